import Crypto
import Foundation
import Synchronization

/// An upload into a `MediaDirectory`.
///
/// The file has a name of its own in the same folder, so that it can be renamed. It is locked, so that no sweep
/// removes it as abandoned.
final class FileUpload: MediaUpload {
  private struct State: ~Copyable {
    var hash = SHA256()
    var bytes = 0
    /// The number of bytes that are known to be on disk.
    var synced = 0
    var stored: StoredMedia?
    var isPublished = false
  }

  /// The number of bytes after which the upload waits for the disk. Otherwise the kernel would buffer all of a large
  /// file, and the sender would wait for its response longer than the timeout of a proxy.
  private static let maximumUnsyncedBytes = 64 << 20

  private let directory: MediaDirectory
  private let descriptor: Int32
  private let path: String
  /// A queue per upload, so that uploads do not wait for each other's disk writes.
  private let queue = DispatchQueue(label: "media-upload")
  /// The calls are sequential; the lock only proves it to the compiler.
  private let state = Mutex(State())

  /// Begins an upload.
  ///
  /// - Returns: nil if a sweep between the creation of the file and its lock has removed the file. The next attempt uses
  ///   another file.
  init?(in directory: MediaDirectory) throws(MediaError) {
    self.directory = directory
    path = "\(directory.path)/\(MediaDirectory.uploadPrefix)\(UUID().uuidString.lowercased())"
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
    guard descriptor >= 0 else { throw .last("open") }
    guard try DescriptorIO.lock(descriptor) else { return nil }
  }

  deinit {
    let (descriptor, path) = (descriptor, path)
    let isPublished = state.withLock { $0.isPublished }
    // Freeing gigabytes takes time.
    BlockingWork.start {
      if !isPublished { unlink(path) }
      close(descriptor)
    }
  }

  func write(_ bytes: [UInt8]) async throws {
    try await BlockingWork.run(on: queue) { [self] in
      try state.withLock { state in
        bytes.withUnsafeBytes { state.hash.update(bufferPointer: $0) }
        try DescriptorIO.append(bytes, to: descriptor)
        state.bytes += bytes.count
        if state.bytes - state.synced >= Self.maximumUnsyncedBytes {
          guard fdatasync(descriptor) == 0 else { throw MediaError.last("fdatasync") }
          state.synced = state.bytes
        }
      }
    }
  }

  func finish(_ format: MediaFormat) async throws -> StoredMedia {
    try await BlockingWork.run(on: queue) { [self] in
      try state.withLock { state in
        let size = try DescriptorIO.complete(descriptor, format)
        let stored = StoredMedia(digest: MediaDigest(state.hash.finalize()), bytes: state.bytes, size: size)
        state.stored = stored
        return stored
      }
    }
  }

  /// Renames the file into place. A file already there has the same content, and readers keep the one that they have
  /// opened.
  ///
  /// - Throws: `MediaError.failed` on a repeat if the file was removed since the first call.
  func publish() async throws {
    try await BlockingWork.run(on: queue) { [self] in
      try state.withLock { state in
        guard let digest = state.stored?.digest else { return }
        if state.isPublished {
          guard access(directory.path(of: digest), F_OK) == 0 else { throw MediaError.last("access") }
        } else {
          // The file may have waited for its registration, and is stored now.
          try DescriptorIO.renewDate(descriptor)
          guard rename(path, directory.path(of: digest)) == 0 else { throw MediaError.last("rename") }
          state.isPublished = true
        }
        // Also on a repeat: the first call may have failed here.
        try DescriptorIO.synchronizeFolder(directory.path)
      }
    }
  }
}
