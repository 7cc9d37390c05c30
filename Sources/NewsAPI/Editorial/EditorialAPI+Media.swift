package import Foundation
import HTTPTypes
package import Hummingbird
import MediaFiles
package import NIOCore
package import News
package import NewsStore

extension EditorialAPI {
  /// The number of bytes buffered before each write to the storage.
  private static let portion = 256 << 10

  /// Stores a file.
  ///
  /// - Parameters:
  ///   - type: The media type that the sender declares; `application/octet-stream` to detect it.
  ///   - name: The file name in a form.
  ///   - parts: Returns the content. Its errors are thrown unchanged.
  ///   - context: The request, whose key is the author.
  /// - Returns: The file as an attachment, and whether this call has registered it.
  /// - Throws: `ProblemError`: 403 for a key that may not upload, 413, 415, 501, 503; `MediaError`; the errors of `parts`.
  package func upload<Parts: AsyncSequence>(
    type: String, name: String?, _ context: APIContext, parts: () throws -> Parts
  ) async throws -> (attachment: Attachment, created: Bool) where Parts.Element == ByteBuffer {
    guard context.record.key?.allows(.mediaWrite) ?? false else { throw ProblemError.forbidden(.mediaWrite) }
    let (media, created) = try await upload(MediaUploadHead(type: type, name: name), context, parts: parts)
    return (attachment(media), created)
  }

  /// Stores a file.
  ///
  /// - Throws: `ProblemError`, `MediaError`, `AnsweredBefore`, and the errors of `parts`.
  func upload<Parts: AsyncSequence>(
    _ head: MediaUploadHead, _ context: APIContext, parts: () throws -> Parts
  ) async throws -> (media: Media, created: Bool) where Parts.Element == ByteBuffer {
    let library = try await acceptingLibrary()
    let upload = try await library.storage.begin()
    let (stored, format) = try await receive(try parts(), head, upload)
    context.record.setBodyDigest(stored.digest.bytes)
    let (media, created) = try await library.add(
      upload, stored, type: head.type(of: format), name: head.name, now: Date(),
      once: context.once { EditorialMediaHandlers.answer(attachment($0.media), $0.media, created: $0.created) })
    context.record.setSubject("media", media.id.uuidString.lowercased())
    return (media, created)
  }

  /// Returns the library if it accepts files.
  ///
  /// - Throws: `ProblemError`: 501 without a library, 503 if its storage is not that of the database; `StoreError`;
  ///   `MediaError` while few descriptors are free.
  func acceptingLibrary() async throws -> MediaLibrary {
    guard let library else { throw ProblemError.mediaNotKept }
    try library.requireDescriptor()
    do {
      try await library.requireAdoption()
    } catch let error as MediaLibraryError {
      throw ProblemError.mediaUnavailable(error)
    }
    return library
  }

  /// Writes a file to the storage. Backpressure: it reads no faster than the storage writes.
  private func receive<Parts: AsyncSequence>(
    _ parts: Parts, _ head: MediaUploadHead, _ upload: any MediaUpload
  ) async throws -> (StoredMedia, MediaFormat) where Parts.Element == ByteBuffer {
    var format: MediaFormat?
    var waiting: [UInt8] = []
    var length = 0
    var iterator = parts.makeAsyncIterator()
    repeat {
      let part = try await iterator.next()
      length += part?.readableBytes ?? 0
      guard length <= maximumMediaBytes else { throw ProblemError.bodyTooLarge(maximumMediaBytes) }
      if let part { waiting.append(contentsOf: part.readableBytesView) }
      if format == nil, part == nil || waiting.count >= MediaFormat.headerByteCount {
        format = try head.format(of: waiting)
      }
      if waiting.count >= Self.portion || part == nil {
        try await upload.write(waiting)
        waiting.removeAll(keepingCapacity: true)
      }
      guard part == nil, let format else { continue }
      let stored = try await upload.finish(format)
      try head.check(stored)
      return (stored, format)
    } while true
  }

  /// Returns a file as an attachment for items.
  package func attachment(_ media: Media) -> Attachment {
    Attachment(
      url: (publicURL ?? "") + Attachment.path(of: media.id), type: media.type, bytes: media.bytes, width: media.width,
      height: media.height, sha256: MediaDigest(bytes: media.digest)?.hexadecimal)
  }

  /// Returns the response with a file that the key of the request has access to, whether or not readers have.
  ///
  /// - Throws: `StoreError.notFound`; `ProblemError`, 412 or 416; `MediaFault`.
  package func file(_ id: UUID, _ request: Request, _ context: APIContext) async throws -> Response {
    guard let library else { throw StoreError.notFound }
    let (media, file) = try await library.open(id) { try await store.editorialMedia($0, for: context.access) }
    return try MediaHandlers.response(to: request, context, media, file, [:])
  }
}
