public import Foundation

/// A media storage in a folder. Each file is named after its digest, and `upload-UUID` while it is written, or `part-UUID` if
/// several requests write it. The label of the folder is `library.json`.
///
/// Several processes may share the folder, on one machine or over a network file system with locks.
public struct MediaDirectory: MediaStorage {
  static let uploadPrefix = "upload-"
  /// The time in seconds by which the dates of files may be early: their clock may differ from that of a caller, and a file
  /// system may drop fractions.
  private static let dateTolerance: TimeInterval = 60
  let path: String

  /// Creates a storage in a folder.
  ///
  /// - Parameter createsFolder: Whether a missing folder is created at once. Otherwise `setLabel(_:)` creates it, and all
  ///   other calls throw until then: a folder may be missing because its file system is not mounted.
  /// - Throws: `MediaError` if the folder cannot be created, read or written.
  public init(_ folder: URL, createsFolder: Bool = true) throws(MediaError) {
    path = folder.path
    if createsFolder { try create() }
    guard try isFolder() else { return }
    guard access(path, R_OK | W_OK | X_OK) == 0 else { throw MediaError.last("access") }
  }

  /// Creates the folder and the folders that contain it, unless they exist.
  func create() throws(MediaError) {
    if try isFolder() { return }
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw .failed("mkdir", code: Self.code(of: error))
    }
  }

  private static func code(of error: any Error) -> Int32 {
    ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue ?? EIO
  }

  /// Whether the folder exists.
  func isFolder() throws(MediaError) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT { return false }
      throw .last("stat")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw .failed("opendir", code: ENOTDIR) }
    return true
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

  /// Removes files. A file that is stored again has a new date. In doubt, a file is kept.
  public func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int {
    try await BlockingWork.run {
      try digests.count { digest in
        var status = stat()
        guard stat(path(of: digest), &status) == 0,
          TimeInterval(status.st_mtim.tv_sec) + Self.dateTolerance < date.timeIntervalSince1970
        else { return false }
        guard unlink(path(of: digest)) == 0 || errno == ENOENT else { throw MediaError.last("unlink") }
        return true
      }
    }
  }

  /// Removes abandoned uploads. An active upload holds a lock on its file.
  @discardableResult
  public func sweep() async throws -> Int {
    try await BlockingWork.run {
      try names().filter { $0.hasPrefix(Self.uploadPrefix) }.count { removeUnlocked("\(path)/\($0)") }
    }
  }

  /// Removes a file unless a process has locked it.
  func removeUnlocked(_ name: String) -> Bool {
    let descriptor = Foundation.open(name, O_WRONLY | O_CLOEXEC)
    // The file may have been published or removed in the meantime.
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && unlink(name) == 0
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
