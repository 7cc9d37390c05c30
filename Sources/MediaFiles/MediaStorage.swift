public import Foundation

/// Where files are kept, each under the digest of its content, so that the same content is kept once. What it is known
/// by and who uses it is told elsewhere: here are bytes alone.
///
/// `MediaDirectory` keeps them in a folder. An object store would write its uploads in parts, and fetch what is opened
/// into a file without a name.
public protocol MediaStorage: Sendable {
  /// Begins to take a file.
  ///
  /// - Throws: `MediaError`.
  func begin() async throws -> any MediaUpload

  /// Opens a file. It can be read to its end even if it is removed meanwhile.
  ///
  /// - Returns: nil if there is none.
  func open(_ digest: MediaDigest) async throws -> MediaFile?

  /// Lists all files, in no order.
  func digests() async throws -> [MediaDigest]

  /// Removes files, except those stored again since a date.
  ///
  /// - Returns: How many were removed.
  func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int

  /// Removes what uploads have left whose process has ended.
  func sweep() async throws
}

/// A file on its way in. It is there for readers only once it is published; one that is let go of before leaves nothing.
///
/// The calls follow each other, each after the end of the one before.
public protocol MediaUpload: Sendable {
  /// Appends bytes. It returns when there is room for more.
  ///
  /// - Throws: `MediaError`.
  func write(_ bytes: [UInt8]) async throws

  /// Ends the file and waits until it would survive a crash.
  ///
  /// - Parameter format: What its beginning says it is.
  func finish(_ format: MediaFormat) async throws -> StoredMedia

  /// Puts the finished file in its place, and waits until that would survive a crash too. A repeat changes nothing.
  ///
  /// - Throws: `MediaError`, also at a repeat after the file was removed.
  func publish() async throws
}

/// What is known of a file once all of it has come.
public struct StoredMedia: Sendable, Equatable {
  /// Of its content.
  public let digest: MediaDigest
  /// Its length.
  public let bytes: Int
  /// nil where it is no picture, or its header does not tell.
  public let size: PixelSize?

  /// What a storage has found out.
  public init(digest: MediaDigest, bytes: Int, size: PixelSize?) {
    self.digest = digest
    self.bytes = bytes
    self.size = size
  }
}

/// What a storage cannot do.
public enum MediaError: Error, Sendable, Equatable {
  /// There is no room for more.
  case full
  /// Another fault: the call, and why the system refused it. For the log only.
  case failed(String, code: Int32)
}
