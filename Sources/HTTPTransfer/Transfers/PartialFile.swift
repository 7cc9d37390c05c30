import Crypto
import Foundation
import Synchronization

/// The received part of a download. Written bytes survive the end of the process. After a power loss the final check of
/// the digest verifies them.
///
/// Only one task at a time writes it.
final class PartialFile: Sendable {
  private let handle: FileHandle
  private let size: Atomic<Int64>

  /// The number of bytes.
  var length: Int64 { size.load(ordering: .relaxed) }

  /// Opens a file, and creates it if it is missing.
  ///
  /// - Parameter mode: The mode of a new file, from which the umask takes bits away.
  /// - Throws: ``FetchError`` with `storage`.
  init(_ file: URL, mode: mode_t) throws {
    do {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      let descriptor = open(file.path(percentEncoded: false), O_RDWR | O_CREAT | O_CLOEXEC, mode)
      guard descriptor >= 0 else { throw Self.systemError }
      handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      size = Atomic(Int64(try handle.seekToEnd()))
    } catch {
      let folder = file.deletingLastPathComponent().path(percentEncoded: false)
      throw FetchError(.storage, "cannot write to the folder \(folder): \(StorageFailure.reason(error))")
    }
  }

  /// Appends bytes.
  ///
  /// - Throws: ``FetchError`` with `storage`. The file may then lack some of them.
  func append(_ bytes: Data) throws {
    try withStorageErrors { try handle.write(contentsOf: bytes) }
    size.add(Int64(bytes.count), ordering: .relaxed)
  }

  /// Removes all bytes.
  func empty() throws {
    try withStorageErrors { try handle.truncate(atOffset: 0) }
    size.store(0, ordering: .relaxed)
  }

  /// Synchronizes the file with the disk, and moves it to its destination in one step.
  func move(from file: URL, to destination: URL) throws {
    try withStorageErrors {
      try handle.synchronize()
      guard rename(file.path(percentEncoded: false), destination.path(percentEncoded: false)) == 0 else {
        throw Self.systemError
      }
      let folder = open(destination.deletingLastPathComponent().path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
      if folder >= 0 {
        fsync(folder)
        close(folder)
      }
    }
  }

  /// Closes the file.
  func closeFile() { try? handle.close() }

  private func withStorageErrors(_ body: () throws -> Void) throws {
    do { try body() } catch {
      throw FetchError(.storage, "cannot write the file: \(StorageFailure.reason(error))")
    }
  }

  private static var systemError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  /// Returns the SHA-256 of a file in hexadecimal digits.
  static func sha256(_ file: URL) throws -> String { try digest(file).hexadecimal }

  /// Returns the SHA-256 of a file.
  static func digest(_ file: URL) throws -> Data {
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    var hash = SHA256()
    while let chunk = try handle.read(upToCount: 1 << 20), !chunk.isEmpty { hash.update(data: chunk) }
    return Data(hash.finalize())
  }
}

extension Sequence<UInt8> {
  /// The bytes in hexadecimal, with two lower-case digits each.
  package var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
