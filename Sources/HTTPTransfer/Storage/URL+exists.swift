package import Foundation

extension URL {
  /// Whether a file or a folder exists.
  package var exists: Bool { FileManager.default.fileExists(atPath: path(percentEncoded: false)) }
}
