public import Foundation

/// A media storage in a folder. Each file is named after its digest, and `upload-UUID` while it is written, or `part-UUID` if
/// several requests write it.
///
/// Several processes may share the folder, on one machine or over a network file system with locks.
public struct MediaDirectory: MediaStorage {
  static let uploadPrefix = "upload-"
  let path: String

  /// Creates the folder if it is missing.
  ///
  /// - Throws: An error of the system if the folder cannot be created, read or written.
  public init(_ folder: URL) throws {
    path = folder.path
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    guard access(path, R_OK | W_OK | X_OK) == 0 else { throw MediaError.last("access") }
  }

  /// Starts an upload.
  public func begin() async throws -> any MediaUpload {
    try await BlockingWork.run {
      for _ in 0..<1000 {
        if let upload = try FileUpload(in: self) { return upload }
      }
      throw MediaError.failed("flock", code: EWOULDBLOCK)
    }
  }

  /// Opens a file.
  public func open(_ digest: MediaDigest) async throws -> MediaFile? {
    try await BlockingWork.run { try MediaFile(path: path(of: digest)) }
  }

  /// Lists the digests of all files.
  public func digests() async throws -> [MediaDigest] {
    try await BlockingWork.run { try names().compactMap { MediaDigest(hexadecimal: $0) } }
  }

  /// Removes files. A file that is stored again has a new date.
  public func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int {
    try await BlockingWork.run {
      try digests.count { digest in
        var status = stat()
        guard stat(path(of: digest), &status) == 0, TimeInterval(status.st_mtim.tv_sec) < date.timeIntervalSince1970
        else { return false }
        guard unlink(path(of: digest)) == 0 || errno == ENOENT else { throw MediaError.last("unlink") }
        return true
      }
    }
  }

  /// Removes abandoned uploads. An active upload holds a lock on its file.
  public func sweep() async throws {
    try await BlockingWork.run {
      for name in try names() where name.hasPrefix(Self.uploadPrefix) {
        let descriptor = Foundation.open("\(path)/\(name)", O_WRONLY | O_CLOEXEC)
        // The file has been published or removed in the meantime.
        guard descriptor >= 0 else { continue }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink("\(path)/\(name)") }
        close(descriptor)
      }
    }
  }

  func path(of digest: MediaDigest) -> String { "\(path)/\(digest.hexadecimal)" }

  func names() throws(MediaError) -> [String] {
    guard let directory = opendir(path) else { throw .last("opendir") }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }
}
