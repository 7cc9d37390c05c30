public import Foundation

/// A storage of files under the digests of their content, so that equal content is stored once. It holds bytes alone;
/// the names and uses of files are recorded elsewhere.
///
/// `MediaDirectory` stores files in a folder. An object store would write its uploads in parts, and download a file
/// into an unnamed one when it is opened.
public protocol MediaStorage: Sendable {
  /// Starts an upload.
  ///
  /// - Throws: `MediaError`.
  func begin() async throws -> any MediaUpload

  /// Opens a file. It can be read to its end even if it is removed in the meantime.
  ///
  /// - Returns: nil if the file does not exist.
  func open(_ digest: MediaDigest) async throws -> MediaFile?

  /// Lists the digests of all files, in no particular order.
  func digests() async throws -> [MediaDigest]

  /// Removes files, except those that may have been stored again since a date.
  ///
  /// - Returns: The number of removed files.
  func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int

  /// Removes the uploads of processes that have ended.
  ///
  /// - Returns: The number of removed uploads.
  @discardableResult
  func sweep() async throws -> Int

  /// The storage of parts; nil if each file must arrive in one request.
  var parts: (any MediaPartStorage)? { get }

  /// The storage with its label; nil if it cannot have one, and belongs to whoever uses it.
  var labelled: (any LabelledStorage)? { get }
}

extension MediaStorage {
  /// nil: each file must arrive in one request.
  public var parts: (any MediaPartStorage)? { nil }

  /// nil: the storage belongs to whoever uses it.
  public var labelled: (any LabelledStorage)? { nil }
}

/// An upload in progress. The file is available to readers once it is published. An upload that is released before
/// leaves nothing behind.
///
/// The calls are sequential: each one begins after the end of the previous one.
public protocol MediaUpload: Sendable {
  /// Appends bytes, and returns once more can be accepted.
  ///
  /// - Throws: `MediaError`.
  func write(_ bytes: [UInt8]) async throws

  /// Completes the file, and returns once it would survive a crash.
  ///
  /// - Parameter format: The format recognised by the beginning of the file.
  /// - Throws: `MediaError`.
  func finish(_ format: MediaFormat) async throws -> StoredMedia

  /// Moves the completed file to its place, and returns once that would survive a crash too. A repeat has no effect.
  ///
  /// - Throws: `MediaError`, also on a repeat after the file was removed.
  func publish() async throws
}

/// The properties of a completed file.
public struct StoredMedia: Sendable, Equatable {
  /// The digest of the content.
  public let digest: MediaDigest
  /// The length in bytes.
  public let bytes: Int
  /// The size of the picture; nil if the file is not a picture or its header does not specify a size.
  public let size: PixelSize?
}

/// An error of a media storage.
public enum MediaError: Error, Sendable, Equatable {
  /// No space is left.
  case full
  /// Another error: the failed call and the system's error number. For the log only.
  case failed(String, code: Int32)
}
