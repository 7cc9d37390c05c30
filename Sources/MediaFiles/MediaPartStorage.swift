public import Foundation

/// A storage of the parts of files that have arrived so far, each under the id of its upload. A part survives the process
/// that has written it, and any process can continue it.
///
///     guard let part = try await storage.open(id) else { return }  // another request has opened it
///     let received = try await part.truncate(to: 0)
///     try await part.write(Array("%PDF-1.7".utf8))
///     let length = try await part.synchronize()
///     await part.close()
public protocol MediaPartStorage: Sendable {
  /// Opens a part, and creates an empty one if there is none.
  ///
  /// - Returns: nil while the part is open elsewhere.
  /// - Throws: `MediaError`.
  func open(_ id: UUID) async throws -> (any MediaPart)?

  /// Returns the number of bytes of a part, 0 if there is none.
  func length(_ id: UUID) async throws -> Int

  /// Lists the ids of all parts, in no particular order.
  func ids() async throws -> [UUID]

  /// Removes parts, except open ones.
  ///
  /// - Returns: The number of removed parts.
  @discardableResult
  func remove(_ ids: [UUID]) async throws -> Int
}

/// A part of a file, open for more bytes.
public protocol MediaPart: MediaUpload {
  /// The number of bytes.
  var length: Int { get }

  /// Discards the bytes after a length that is known to be on disk, since they may be lost in a crash that the database
  /// survives. It is the first call.
  ///
  /// - Returns: The length, which is lower if the storage has lost bytes.
  /// - Throws: `MediaError`.
  func truncate(to length: Int) async throws -> Int

  /// Writes all bytes to disk.
  ///
  /// - Returns: The number of bytes, which would survive a crash.
  /// - Throws: `MediaError`.
  func synchronize() async throws -> Int

  /// Reads the first bytes.
  ///
  /// - Parameter count: The maximum number of bytes.
  /// - Throws: `MediaError`.
  func beginning(_ count: Int) async throws -> [UInt8]

  /// Removes the part. A published file remains.
  func remove() async throws

  /// Closes the part, and keeps its bytes. It is the last call. A part that is released without it is closed later.
  func close() async
}
