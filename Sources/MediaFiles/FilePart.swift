import Crypto
public import Foundation
import Synchronization

/// A part in a `MediaDirectory`: the file `part-UUID`, which is locked while it is open.
final class FilePart: MediaPart {
  private struct State: ~Copyable {
    /// The digest of all bytes so far; nil if earlier requests have written some of them.
    var hash: SHA256?
    var bytes: Int
    var stored: StoredMedia?
  }

  /// The number of bytes that are read at a time for the digest.
  private static let portion = 1 << 20

  private let directory: MediaDirectory
  private let descriptor: Int32
  private let path: String
  private let queue = DispatchQueue(label: "media-part")
  /// The calls are sequential; the lock only proves it to the compiler.
  private let state: Mutex<State>

  var length: Int { state.withLock { $0.bytes } }

  /// Opens a part.
  ///
  /// - Returns: nil if it is open elsewhere, or was removed meanwhile.
  init?(_ id: UUID, in directory: MediaDirectory) throws(MediaError) {
    self.directory = directory
    path = directory.path(ofPart: id)
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
    guard descriptor >= 0 else { throw .last("open") }
    state = Mutex(State(bytes: 0))
    guard try DescriptorIO.lock(descriptor) else { return nil }
  }

  deinit { BlockingWork.start { [descriptor] in Foundation.close(descriptor) } }

  func truncate(to length: Int) async throws -> Int {
    try await BlockingWork.run(on: queue) { [self] in
      try state.withLock { state in
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw MediaError.last("fstat") }
        let bytes = min(Int(status.st_size), length)
        guard ftruncate(descriptor, off_t(bytes)) == 0 else { throw MediaError.last("ftruncate") }
        guard lseek(descriptor, 0, SEEK_END) >= 0 else { throw MediaError.last("lseek") }
        state = State(hash: bytes == 0 ? SHA256() : nil, bytes: bytes)
        return bytes
      }
    }
  }

  func write(_ bytes: [UInt8]) async throws {
    try await BlockingWork.run(on: queue) { [self] in
      try state.withLock { state in
        bytes.withUnsafeBytes { state.hash?.update(bufferPointer: $0) }
        try DescriptorIO.append(bytes, to: descriptor)
        state.bytes += bytes.count
      }
    }
  }

  func synchronize() async throws -> Int {
    try await BlockingWork.run(on: queue) { [self] in
      try state.withLock { state in
        guard fdatasync(descriptor) == 0 else { throw MediaError.last("fdatasync") }
        return state.bytes
      }
    }
  }

  func beginning(_ count: Int) async throws -> [UInt8] {
    try await BlockingWork.run(on: queue) { [self] in try DescriptorIO.read(descriptor, at: 0, count: count) }
  }

  func finish(_ format: MediaFormat) async throws -> StoredMedia {
    try await BlockingWork.run(on: queue) { [self] in
      try state.withLock { state in
        let size = try DescriptorIO.complete(descriptor, format)
        let digest = try state.hash?.finalize() ?? digest(state.bytes)
        let stored = StoredMedia(digest: MediaDigest(digest), bytes: state.bytes, size: size)
        state.stored = stored
        return stored
      }
    }
  }

  /// Reads the whole file for its digest.
  private func digest(_ length: Int) throws(MediaError) -> SHA256.Digest {
    var hash = SHA256()
    var offset = 0
    while offset < length {
      let bytes = try DescriptorIO.read(descriptor, at: offset, count: min(Self.portion, length - offset))
      guard !bytes.isEmpty else { throw .failed("pread", code: EIO) }
      bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
      offset += bytes.count
    }
    return hash.finalize()
  }

  /// Links the file to its place. The part remains until `remove()`, so that a request that fails after this call can be
  /// repeated.
  func publish() async throws {
    try await BlockingWork.run(on: queue) { [self] in
      try state.withLock { state in
        guard let digest = state.stored?.digest else { return }
        // The last byte may have arrived long ago, in an earlier request.
        try DescriptorIO.renewDate(descriptor)
        try link(to: directory.path(of: digest))
        try DescriptorIO.synchronizeFolder(directory.path)
      }
    }
  }

  private func link(to place: String) throws(MediaError) {
    if Foundation.link(path, place) == 0 { return }
    // A file system without hard links, where a repeated request begins again.
    if [EPERM, ENOTSUP, EMLINK].contains(errno) { return try move(path, to: place) }
    guard errno == EEXIST else { throw .last("link") }
    var (own, other) = (stat(), stat())
    guard fstat(descriptor, &own) == 0 else { throw .last("fstat") }
    if stat(place, &other) == 0, other.st_ino == own.st_ino, other.st_dev == own.st_dev { return }
    // A file with the same content. It is replaced, because the date of the new one keeps it from being removed.
    let name = "\(directory.path)/\(MediaDirectory.uploadPrefix)\(UUID().uuidString.lowercased())"
    // Without a second name, the part itself takes the place.
    guard Foundation.link(path, name) == 0 else { return try move(path, to: place) }
    try move(name, to: place)
  }

  private func move(_ name: String, to place: String) throws(MediaError) {
    guard rename(name, place) == 0 else { throw .last("rename") }
  }

  func close() async {
    // The descriptor stays open until no call can use it any more.
    _ = try? await BlockingWork.run(on: queue) { [self] in flock(descriptor, LOCK_UN) }
  }

  func remove() async throws {
    try await BlockingWork.run(on: queue) { [self] in
      guard unlink(path) == 0 || errno == ENOENT else { throw MediaError.last("unlink") }
    }
  }
}

/// The parts in a folder of media files.
extension MediaDirectory: MediaPartStorage {
  static let partPrefix = "part-"

  /// The folder itself.
  public var parts: (any MediaPartStorage)? { self }

  func path(ofPart id: UUID) -> String { "\(path)/\(Self.partPrefix)\(id.uuidString.lowercased())" }

  /// Opens a part.
  public func open(_ id: UUID) async throws -> (any MediaPart)? {
    try await BlockingWork.run { try FilePart(id, in: self) }
  }

  /// Returns the length of a part.
  public func length(_ id: UUID) async throws -> Int {
    try await BlockingWork.run {
      var status = stat()
      guard stat(path(ofPart: id), &status) == 0 else {
        if errno == ENOENT { return 0 }
        throw MediaError.last("stat")
      }
      return Int(status.st_size)
    }
  }

  /// Lists the ids of all parts.
  public func ids() async throws -> [UUID] {
    try await BlockingWork.run {
      try names().filter { $0.hasPrefix(Self.partPrefix) }
        .compactMap { UUID(uuidString: String($0.dropFirst(Self.partPrefix.count))) }
    }
  }

  /// Removes parts.
  @discardableResult
  public func remove(_ ids: [UUID]) async throws -> Int {
    try await BlockingWork.run { ids.count { removeUnlocked(path(ofPart: $0)) } }
  }
}
