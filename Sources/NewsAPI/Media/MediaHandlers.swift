import Foundation
import HTTPConditions
import HTTPEdge
import HTTPTypes
import Hummingbird
import MediaFiles
import News
import NewsStore

/// The handler of `/v1/media`: public files.
struct MediaHandlers: Sendable {
  /// The library of media files; nil if the server keeps none.
  let library: MediaLibrary?
  /// Limits the reads of the database.
  let reads: ConcurrencyLimiter
  let caching: CachePolicy

  @Sendable func media(_ request: Request, context: APIContext) async throws -> Response {
    try request.parameters().check()
    guard let library else { throw StoreError.notFound }
    let id = try context.resourceID("media")
    let (media, file) = try await reads.run { try await library.open(id, library.store.media) }
    var headers: HTTPFields = [.cacheControl: caching.file]
    CORS.add(to: &headers)
    return try Self.response(to: request, context, media, file, headers)
  }

  /// Returns the response with a file: whole, a part of it, or 304.
  ///
  /// - Parameter headers: The header fields of each such response.
  static func response(
    to request: Request, _ context: APIContext, _ media: Media, _ file: MediaFile, _ headers: HTTPFields
  ) throws -> Response {
    let validators = Validators(
      entityTag: EntityTag(strong: String(base64URL: media.digest)), lastModified: media.created,
      isLastModifiedStrong: true)
    var headers = headers
    headers[.eTag] = validators.entityTag?.fieldValue
    headers[.lastModified] = HTTPDate.format(media.created)
    let preconditions = Preconditions(fields: request.headers)
    switch preconditions.evaluate(method: request.method, current: validators) {
    case .notModified: return Response(status: .notModified, headers: headers)
    case .failed: throw ProblemError.preconditionFailed
    case .proceed: break
    }
    headers[.contentType] = media.type
    headers[.contentDisposition] = ContentDisposition.inline(media.name)
    headers[.xContentTypeOptions] = "nosniff"
    headers[.acceptRanges] = "bytes"
    headers[.reprDigest] = DigestField.value(sha256: media.digest)
    let range =
      preconditions.rangeApplies(current: validators)
      ? RangeRequest(fields: request.headers, method: request.method, length: media.bytes) : .ignored
    switch range {
    case .unsatisfiable: throw ProblemError.rangeNotSatisfiable(length: media.bytes)
    case .ranges(let ranges) where ranges.count == 1:
      headers[.contentRange] = ContentRange.satisfied(ranges[0], length: media.bytes)
      return Response(status: .partialContent, headers: headers, body: context.body(file, ranges[0]))
    // Several ranges in one response would need a multipart encoding, which hardly any client asks for. The whole file
    // is always a valid response (RFC 9110 section 14.2).
    case .ranges, .ignored:
      return Response(status: .ok, headers: headers, body: context.body(file, 0..<media.bytes))
    }
  }
}
