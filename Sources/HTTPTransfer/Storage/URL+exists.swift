package import Foundation

extension URL {
  /// Whether a file or a folder exists.
  package var exists: Bool { FileManager.default.fileExists(atPath: path(percentEncoded: false)) }

  /// Creates a folder that only the user can read, unless it exists.
  package func createPrivateFolder() throws {
    try FileManager.default.createDirectory(
      at: self, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }
}
