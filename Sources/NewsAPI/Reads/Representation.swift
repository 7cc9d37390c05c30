import Crypto
package import Foundation
package import HTTPConditions
import HTTPEdge
package import HTTPTypes
package import Hummingbird
import News
import Synchronization

/// The bytes of a public response and their validators.
package final class Representation: Sendable {
  /// The minimum size of a compressed body in bytes. Smaller bodies gain nothing by compression.
  static let minimumCompressedBytes = 1024

  package let body: ByteBuffer
  let contentType: String
  /// The entity tag of the uncompressed variant.
  let tag: EntityTag
  let lastModified: LastModified?
  /// Additional header fields, such as `Link`. A 304 has them as well.
  package let fields: HTTPFields
  /// The compressed variant, made at its first use.
  private let compressed = Mutex<ByteBuffer?>(nil)
  /// The complete responses to repeated reads.
  let storedResponses = Mutex<[Conditions: Stored]>([:])

  /// - Parameters:
  ///   - tag: The entity tag; nil to derive it from the content. A derived tag is equal on every replica.
  ///   - fields: Additional header fields.
  package init(
    _ body: Data, contentType: String = "application/json", tag: EntityTag? = nil, lastModified: LastModified? = nil,
    fields: HTTPFields = [:]
  ) {
    self.body = ByteBuffer(bytes: body)
    self.contentType = contentType
    self.tag = tag ?? Self.contentTag(body, link: fields[.link])
    self.lastModified = lastModified
    self.fields = fields
  }

  /// Returns a copy that is marked as stale (RFC 9211).
  ///
  /// - Parameter age: The time since the response was last known to be current.
  func stale(for age: Duration) -> Representation {
    var fields = fields
    // RFC 9211 section 2.4: a negative value is the time since expiry.
    fields[.cacheStatus] = "Tidings; hit; ttl=-\(max(1, Int((age / .seconds(1)).rounded(.up))))"
    return Representation(body, contentType: contentType, tag: tag, lastModified: lastModified, fields: fields)
  }

  private init(
    _ body: ByteBuffer, contentType: String, tag: EntityTag, lastModified: LastModified?, fields: HTTPFields
  ) {
    self.body = body
    self.contentType = contentType
    self.tag = tag
    self.lastModified = lastModified
    self.fields = fields
  }

  /// A strong tag from the content: 128 bits of SHA-256 in base64url (RFC 4648 section 5).
  ///
  /// `Link` is a part of the content. A cache keeps its stored fields after a 304, and would never learn of a next page.
  private static func contentTag(_ body: Data, link: String?) -> EntityTag {
    var hash = SHA256()
    hash.update(data: body)
    if let link { hash.update(data: Data("\n\(link)".utf8)) }
    return EntityTag(strong: Data(hash.finalize().prefix(16)).base64URL)
  }

  /// A response, and the body that it sends.
  struct Answer {
    var response: Response
    /// The body; nil for a 304.
    var body: ByteBuffer?
  }

  /// Evaluates the request's preconditions (RFC 9110 section 13) and responds with 200 or 304.
  ///
  /// - Parameter metrics: The metrics for saved bytes.
  /// - Throws: `ProblemError.preconditionFailed`, 412.
  func response(to request: Request, _ caching: CachePolicy, _ metrics: APIMetrics) throws -> Response {
    let answer = try answer(to: request.head, caching)
    // A HEAD has no body, so nothing is saved.
    if request.method == .get {
      if let sent = answer.body {
        metrics.countCompression(sparing: body.readableBytes - sent.readableBytes)
      } else {
        metrics.countNotModified(sparing: body.readableBytes)
      }
    }
    return answer.response
  }

  /// The same as `response(to:_:_:)`, without metrics.
  func answer(to request: HTTPRequest, _ caching: CachePolicy) throws -> Answer {
    let coding = coding(for: request.headerFields)
    let tag = tag.variant(coding)
    let lastModified = lastModified?.value()
    var headers = fields
    headers[.eTag] = tag.fieldValue
    headers[.cacheControl] = caching.publicRead
    headers[.vary] = Self.vary
    CORS.add(to: &headers)
    if let lastModified { headers[.lastModified] = HTTPDate.format(lastModified) }
    if let pollInterval = caching.pollInterval() { headers[.pollInterval] = "\(pollInterval)" }
    let validators = Validators(entityTag: tag, lastModified: lastModified, isLastModifiedStrong: true)
    switch Preconditions(fields: request.headerFields).evaluate(method: request.method, current: validators) {
    case .notModified: return Answer(response: Response(status: .notModified, headers: headers))
    case .failed: throw ProblemError.preconditionFailed
    case .proceed: break
    }
    headers[.contentType] = contentType
    if coding == .gzip { headers[.contentEncoding] = "gzip" }
    let body = coding == .gzip ? gzip() : body
    return Answer(
      response: Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body)), body: body)
  }

  private static let vary = Vary(.acceptEncoding).fieldValue

  /// Returns the coding for a client. A client that refuses both codings receives the plain bytes, which are more useful
  /// than a 406.
  private func coding(for headers: HTTPFields) -> ContentCoding {
    guard body.readableBytes >= Self.minimumCompressedBytes else { return .identity }
    return AcceptEncoding(fields: headers).preferredCoding(among: [.gzip, .identity]) ?? .identity
  }

  private func gzip() -> ByteBuffer {
    if let known = compressed.withLock({ $0 }) { return known }
    let made = Gzip.compress(body)
    compressed.withLock { $0 = made }
    return made
  }
}

extension Data {
  /// The bytes in base64url without padding (RFC 4648 section 5).
  var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}

/// The date for `Last-Modified`. It is withheld until its second is over, because another change may follow within it
/// (RFC 9110 section 8.8.2.2).
package struct LastModified: Sendable {
  private let date: Date
  /// The end of the date's second.
  private let end: Date
  private let visibleFrom: ContinuousClock.Instant

  /// - Parameters:
  ///   - date: The date by the database's clock.
  ///   - now: The time of the database's clock at `instant`.
  package init(_ date: Date, now: Date, at instant: ContinuousClock.Instant = .now) {
    self.date = date
    end = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down) + 1)
    visibleFrom = instant + .seconds(max(0, end.timeIntervalSince(now)))
  }

  /// Returns the date; nil while its second is not over by the clock of the database or of this machine. A date later than
  /// `Date` is not sent (RFC 9110 section 8.8.2.1).
  package func value(at instant: ContinuousClock.Instant = .now, by clock: Date = Date()) -> Date? {
    instant >= visibleFrom && clock >= end ? date : nil
  }
}
