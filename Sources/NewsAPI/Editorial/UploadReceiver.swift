import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import MediaFiles
import NIOCore
import News
import NewsStore

/// Receives the bytes of a request that continues an upload.
///
/// The database records a length only after these bytes are on disk, so that the offset is right after a crash at any
/// moment.
struct UploadReceiver {
  /// The number of bytes buffered before each write to the storage.
  private static let portion = 256 << 10
  /// The number of bytes after which the length is recorded. A server that is killed loses at most as many.
  private static let recordedBytes = 8 << 20

  let editorial: EditorialAPI
  let upload: MediaUploadState
  let part: any MediaPart

  private var store: NewsStore { editorial.store }

  /// Appends the body of a request.
  ///
  /// - Returns: The registered file, and whether this call has registered it; nil if the upload continues.
  /// - Throws: `ProblemError`, also 415 and 422, after which the upload is removed; `MediaError`, `StoreError`.
  func receive(
    _ request: Request, _ fields: UploadFields, _ context: APIContext
  ) async throws -> (media: Media, created: Bool)? {
    do {
      if let length = request.headers[.contentLength].flatMap({ Int($0) }) { try requireSpace(for: length) }
      try await append(RequestParts(request, context))
      guard fields.isComplete ?? true else { return nil }
      return try await complete(fields)
    } catch let error as ProblemError where Self.endsUpload(error) {
      try? await remove()
      throw error
    } catch StoreError.notFound {
      await removeCancelled()
      throw StoreError.notFound
    }
  }

  /// Whether an error means that no further bytes can make the upload a file.
  private static func endsUpload(_ error: any Error) -> Bool {
    [415, 422].contains((error as? ProblemError)?.problem.status)
  }

  private func append(_ parts: RequestParts) async throws {
    var waiting: [UInt8] = []
    var recorded = part.length
    do {
      for try await bytes in parts {
        try requireSpace(for: waiting.count + bytes.readableBytes)
        waiting.append(contentsOf: bytes.readableBytesView)
        guard waiting.count >= Self.portion else { continue }
        try await write(&waiting)
        if part.length - recorded >= Self.recordedBytes {
          try await record()
          recorded = part.length
        }
      }
      try await write(&waiting)
      try await record()
    } catch {
      if Self.endsUpload(error) || error as? StoreError == .notFound { throw error }
      // The connection may have broken, and the task may be cancelled. The bytes that have arrived are kept.
      let rest = error is MediaError ? [] : waiting
      let keeping = Task<Void, any Error> {
        try await part.write(rest)
        try await record()
      }
      if case .failure(StoreError.notFound) = await keeping.result { throw StoreError.notFound }
      throw error
    }
  }

  private func write(_ waiting: inout [UInt8]) async throws {
    try await part.write(waiting)
    waiting.removeAll(keepingCapacity: true)
  }

  /// Checks a number of further bytes against the limit and the declared length.
  private func requireSpace(for bytes: Int) throws {
    let maximum = upload.length ?? editorial.maximumMediaBytes
    // A request may declare any number of bytes, so that a sum could overflow.
    guard bytes <= maximum - part.length else { throw ProblemError.bodyTooLarge(maximum) }
  }

  /// Records the bytes so far, once they are on disk. A file with the wrong first bytes is refused early.
  private func record() async throws {
    let length = try await part.synchronize()
    if length >= MediaFormat.headerByteCount { _ = try await format() }
    try await store.recordUpload(
      upload.id, received: length, of: upload.length, lifetime: editorial.uploadLimits.lifetime)
  }

  private func format() async throws -> MediaFormat {
    try MediaUploadHead(upload).format(of: try await part.beginning(MediaFormat.headerByteCount))
  }

  private func complete(_ fields: UploadFields) async throws -> (media: Media, created: Bool) {
    guard let library = editorial.library else { throw ProblemError.mediaNotKept }
    if let length = upload.length ?? fields.length, length != part.length {
      throw ProblemError.uploadLength(part.length)
    }
    let (head, format) = (MediaUploadHead(upload), try await format())
    let stored = try await part.finish(format)
    try head.check(stored)
    let added = try await library.add(
      part, stored, type: head.type(of: format), name: head.name, now: Date(), completing: upload.id)
    // A part that remains is removed by the next sweep.
    try? await part.remove()
    return added
  }

  /// Removes the part of an upload that was cancelled meanwhile, even if this task was cancelled too.
  private func removeCancelled() async {
    let removal = Task {
      try? await part.remove()
      try? await store.forgetCancelledUpload(upload.id)
    }
    await removal.value
  }

  private func remove() async throws {
    try await part.remove()
    try await store.forgetUpload(upload.id)
  }
}
