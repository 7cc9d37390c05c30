public import Foundation

/// A storage with a label, by which its owner recognises it.
///
/// A folder on a file system that is not mounted is missing, or is another folder without the label.
///
///     if try await storage.label() == nil, try await !storage.hasFiles() {
///       try await storage.setLabel(Data("the files of the newsroom\n".utf8))
///     }
public protocol LabelledStorage: Sendable {
  /// Whether the storage exists.
  ///
  /// - Throws: `MediaError` if that cannot be determined.
  func exists() async throws -> Bool

  /// Whether the storage has files, uploads or parts.
  ///
  /// - Throws: `MediaError`.
  func hasFiles() async throws -> Bool

  /// Reads the label.
  ///
  /// - Returns: nil without a label.
  /// - Throws: `MediaError`.
  func label() async throws -> Data?

  /// Replaces the label, and creates the storage if it is missing. Returns once the label would survive a crash.
  ///
  /// - Throws: `MediaError`.
  func setLabel(_ label: Data) async throws
}

/// The label of a folder of media files: the file `library.json`.
extension MediaDirectory: LabelledStorage {
  static let labelName = "library.json"
  /// The number of bytes of a label that are read. Labels are much shorter.
  private static let maximumLabelBytes = 65_536

  /// The folder itself.
  public var labelled: (any LabelledStorage)? { self }

  /// Whether the folder exists.
  public func exists() async throws -> Bool {
    try await BlockingWork.run { try isFolder() }
  }

  /// Whether the folder has files, uploads or parts. Other names are ignored.
  public func hasFiles() async throws -> Bool {
    try await BlockingWork.run {
      try names().contains { name in
        MediaDigest(hexadecimal: name) != nil || name.hasPrefix(Self.uploadPrefix) || name.hasPrefix(Self.partPrefix)
      }
    }
  }

  /// Reads the label.
  public func label() async throws -> Data? {
    try await BlockingWork.run {
      guard let file = try MediaFile(path: "\(path)/\(Self.labelName)") else { return nil }
      return Data(
        try DescriptorIO.read(file.descriptor, at: 0, count: min(file.bytes, Self.maximumLabelBytes)))
    }
  }

  /// Replaces the label, and creates the folder if it is missing.
  public func setLabel(_ label: Data) async throws {
    try await BlockingWork.run {
      try create()
      // The prefix makes a sweep remove the remains of a crash.
      let name = "\(path)/\(Self.uploadPrefix)\(UUID().uuidString.lowercased())"
      let descriptor = Foundation.open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
      guard descriptor >= 0 else { throw MediaError.last("open") }
      defer { close(descriptor) }
      do {
        guard try DescriptorIO.lock(descriptor) else { throw MediaError.failed("flock", code: EWOULDBLOCK) }
        try DescriptorIO.append(Array(label), to: descriptor)
        guard fsync(descriptor) == 0 else { throw MediaError.last("fsync") }
        guard rename(name, "\(path)/\(Self.labelName)") == 0 else { throw MediaError.last("rename") }
        try DescriptorIO.synchronizeFolder(path)
      } catch {
        unlink(name)
        throw error
      }
    }
  }
}
