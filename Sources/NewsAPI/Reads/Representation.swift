import Crypto
package import Foundation
package import HTTPConditions
import HTTPEdge
package import HTTPTypes
package import Hummingbird
import News
import Synchronization

/// The bytes of a public answer with their validators: what GET sends, or what a condition spares the client.
package final class Representation: Sendable {
  /// Smaller answers are never compressed: gzip would hardly make them shorter.
  static let smallestCompressed = 1024

  package let body: ByteBuffer
  let contentType: String
  /// Of the plain variant.
  let tag: EntityTag
  let lastModified: LastModified?
  /// Fields of the answer's own, such as `Link`; they are in a 304 too.
  package let fields: HTTPFields
  /// Made when it is first wanted.
  private let compressed = Mutex<ByteBuffer?>(nil)
  /// The complete responses to repeated reads.
  let storedResponses = Mutex<[RepeatedReads.Conditions: Stored]>([:])

  /// - Parameters:
  ///   - tag: nil for one derived from the content, which is equal on every replica and after a restart.
  ///   - fields: Those that no other answer has.
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

  /// The same as a client is given it who would have to be given something newer.
  ///
  /// - Parameter age: Since when it is not known to be right.
  func stale(for age: Duration) -> Representation {
    var fields = fields
    // RFC 9211 section 2.4: what is below zero has passed.
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
  /// `Link` is content too: a cache keeps the fields it stored when it is answered 304, and would never show that there is
  /// a next page.
  private static func contentTag(_ body: Data, link: String?) -> EntityTag {
    var hash = SHA256()
    hash.update(data: body)
    if let link { hash.update(data: Data("\n\(link)".utf8)) }
    return EntityTag(strong: Data(hash.finalize().prefix(16)).base64URL)
  }

  /// What is known of a request's answer before anybody adds to it.
  struct Answer {
    var response: Response
    /// nil for a 304.
    var body: ByteBuffer?
  }

  /// Evaluates the request's conditions (RFC 9110 section 13) and answers 200, 304 or 412.
  ///
  /// - Parameter metrics: Where it is counted what the client is spared.
  func response(to request: Request, _ caching: CachePolicy, _ metrics: APIMetrics?) throws -> Response {
    let answer = try answer(to: request.head, caching)
    // A HEAD would have had no body to save.
    if request.method == .get {
      if let sent = answer.body {
        metrics?.countCompression(sparing: body.readableBytes - sent.readableBytes)
      } else {
        metrics?.countNotModified(sparing: body.readableBytes)
      }
    }
    return answer.response
  }

  /// The same without counting.
  func answer(to request: HTTPRequest, _ caching: CachePolicy) throws -> Answer {
    let coding = coding(for: request.headerFields)
    let tag = tag.variant(coding)
    let lastModified = lastModified?.value()
    var headers = fields
    headers[.eTag] = tag.fieldValue
    headers[.cacheControl] = caching.publicRead
    headers[.vary] = Self.vary
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

  /// A client that refuses both codings gets the plain bytes: more use to it than a 406.
  private func coding(for headers: HTTPFields) -> ContentCoding {
    guard body.readableBytes >= Self.smallestCompressed else { return .identity }
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
  /// Base64url without padding (RFC 4648 section 5).
  var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
