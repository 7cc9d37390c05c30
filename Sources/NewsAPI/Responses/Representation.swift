import Crypto
import Foundation
import HTTPConditions
import HTTPTypes
import Hummingbird
import News

/// The bytes of a public answer with their validators: what GET sends, or what a condition spares the client.
struct Representation {
  /// Smaller answers are never compressed: gzip would hardly make them shorter.
  static let smallestCompressed = 1024

  let body: Data
  let contentType: String
  /// Of the plain variant.
  let tag: EntityTag
  /// nil while its second is not over.
  let lastModified: Date?
  /// Fields of the answer's own, such as `Link`; they are in a 304 too.
  var fields: HTTPFields = [:]

  /// - Parameter tag: nil for one derived from the content, which is equal on every replica and after a restart.
  init(_ body: Data, contentType: String = "application/json", tag: EntityTag? = nil, lastModified: Date? = nil) {
    self.body = body
    self.contentType = contentType
    self.tag = tag ?? Self.contentTag(body)
    self.lastModified = lastModified
  }

  /// A strong tag from the content: 128 bits of SHA-256 in base64url (RFC 4648 section 5).
  private static func contentTag(_ body: Data) -> EntityTag {
    let digest = Data(SHA256.hash(data: body).prefix(16))
    return EntityTag(strong: digest.base64URL)
  }

  /// Evaluates the request's conditions (RFC 9110 section 13) and answers 200, 304 or 412.
  ///
  /// - Parameter metrics: Where it is counted what the client is spared.
  func response(to request: Request, _ caching: CachePolicy, _ metrics: APIMetrics?) throws -> Response {
    let coding = coding(for: request.headers)
    let tag = tag.variant(coding)
    var headers = fields
    headers[.eTag] = tag.fieldValue
    headers[.cacheControl] = caching.publicRead
    headers[.vary] = Self.vary
    if let lastModified { headers[.lastModified] = HTTPDate.format(lastModified) }
    let validators = Validators(entityTag: tag, lastModified: lastModified, isLastModifiedStrong: true)
    switch Preconditions(fields: request.headers).evaluate(method: request.method, current: validators) {
    case .notModified:
      if request.method == .get { metrics?.countNotModified(sparing: body.count) }
      return Response(status: .notModified, headers: headers)
    case .failed: throw ProblemError.preconditionFailed
    case .proceed: break
    }
    headers[.contentType] = contentType
    switch coding {
    case .identity:
      return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    case .gzip:
      headers[.contentEncoding] = "gzip"
      let compressed = Gzip.compress(body)
      if request.method == .get { metrics?.countCompression(from: body.count, to: compressed.readableBytes) }
      return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: compressed))
    }
  }

  private static let vary = Vary(.acceptEncoding).fieldValue

  /// A client that refuses both codings gets the plain bytes: more use to it than a 406.
  private func coding(for headers: HTTPFields) -> ContentCoding {
    guard body.count >= Self.smallestCompressed else { return .identity }
    return AcceptEncoding(fields: headers).preferredCoding(among: [.gzip, .identity]) ?? .identity
  }
}

extension Data {
  /// Base64url without padding (RFC 4648 section 5).
  var base64URL: String {
    base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
