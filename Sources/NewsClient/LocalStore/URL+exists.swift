import Foundation

extension URL {
  /// Whether there is a file or a folder.
  var exists: Bool { FileManager.default.fileExists(atPath: path(percentEncoded: false)) }
}
