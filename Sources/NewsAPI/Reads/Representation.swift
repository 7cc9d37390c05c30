import Crypto
package import Foundation
import HTTPConditions
import HTTPEdge
package import HTTPTypes
import Hummingbird
package import NIOCore
import News
package import NewsStore
import Synchronization

/// A public response: its validators, and its body, which is assembled when it is first sent.
package final class Representation: Sendable {
  /// The minimum size of a compressed body in bytes. Smaller bodies gain nothing by compression.
  static let minimumCompressedBytes = 1024

  /// The `Content-Type` of pages for readers.
  static let pageContentType = "text/html; charset=utf-8"

  private enum Body: Sendable {
    case page(PageBody)
    case assembling(PageBody, SharedTask<ByteBuffer>)
    case complete(ByteBuffer)
  }

  /// The items of the response have changed before their JSON was read.
  struct OutOfDate: Error {}

  private let bodyState: Mutex<Body>
  /// A lower bound for the length of the body in bytes, the same on every replica.
  package let minimumBytes: Int
  let contentType: String
  /// The entity tag of the uncompressed variant.
  let tag: EntityTag
  let lastModified: LastModified?
  /// Additional header fields, such as `Link`. A 304 has them as well.
  package let fields: HTTPFields
  /// The compressed variant, made at its first use.
  private let compressed = Mutex<ByteBuffer?>(nil)
  private let memory: Atomic<Int>
  /// The complete responses to repeated reads.
  private let storedResponses = Mutex<[Conditions: Stored]>([:])

  /// The approximate memory besides the body in bytes: fields, and the responses to common conditions.
  private static let overhead = 4096

  /// Creates a response with a body that is derived from its content, and whose tag is therefore equal on every replica.
  ///
  /// - Parameter fields: Additional header fields.
  package convenience init(
    _ body: [UInt8], contentType: String = "application/json", lastModified: LastModified? = nil,
    fields: HTTPFields = [:]
  ) {
    let tag = EntityTag(strong: String(base64URL: SHA256.hash(data: body).prefix(16)))
    self.init(
      .complete(ByteBuffer(bytes: body)), minimumBytes: body.count, contentType: contentType, tag: tag,
      lastModified: lastModified, fields: fields)
  }

  /// Creates a response that consists of the fragments of items.
  ///
  /// - Parameters:
  ///   - tag: The entity tag; nil to derive it from the content.
  ///   - fields: Additional header fields.
  convenience init(
    _ body: PageBody, tag: EntityTag? = nil, lastModified: LastModified? = nil, fields: HTTPFields = [:]
  ) {
    self.init(
      .page(body), minimumBytes: body.minimumBytes, contentType: body.contentType,
      tag: tag ?? body.tag(link: fields[.link]), lastModified: lastModified, fields: fields)
  }

  private init(
    _ body: Body, minimumBytes: Int, contentType: String, tag: EntityTag, lastModified: LastModified?,
    fields: HTTPFields
  ) {
    bodyState = Mutex(body)
    var memory = Self.overhead
    switch body {
    case .page(let page), .assembling(let page, _): memory += page.items.count * MemoryLayout<ItemVersion>.stride
    case .complete(let bytes): memory += bytes.readableBytes
    }
    self.memory = Atomic(memory)
    self.minimumBytes = minimumBytes
    self.contentType = contentType
    self.tag = tag
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
    return Representation(
      bodyState.withLock { $0 }, minimumBytes: minimumBytes, contentType: contentType, tag: tag,
      lastModified: lastModified, fields: fields)
  }

  /// The approximate memory of the response in bytes. It grows with the body and its compressed variant.
  var cost: Int { memory.load(ordering: .relaxed) }

  /// Counts further memory in bytes.
  func grow(by bytes: Int) { memory.add(bytes, ordering: .relaxed) }

  // MARK: Body

  /// The body; nil if it has not been assembled.
  package var assembledBody: ByteBuffer? {
    bodyState.withLock { if case .complete(let bytes) = $0 { bytes } else { nil } }
  }

  /// The length of the body in bytes, or a lower bound for it as long as it has not been assembled.
  var knownBytes: Int { assembledBody?.readableBytes ?? minimumBytes }

  /// Returns the body if it is in memory, or can be assembled at once from fragments in memory; nil otherwise.
  func bodyInMemory(of store: NewsStore) -> ByteBuffer? {
    bodyState.withLock { body in
      switch body {
      case .complete(let bytes): return bytes
      case .page(let page), .assembling(let page, _):
        guard !page.isCostly,
          let fragments = page.fragmentsInMemory(of: store), page.computedBytes(fragments) <= ComputePool.smallBytes
        else { return nil }
        let bytes = page.assembled(fragments)
        keep(bytes, in: &body)
        return bytes
      }
    }
  }

  /// Returns the body. Missing fragments are read once for all requesters, and the read survives their leaving.
  ///
  /// - Throws: `OutOfDate` if an item has changed since; the errors of the store and of the limiter.
  func body(from store: NewsStore, limiter: ConcurrencyLimiter) async throws -> ByteBuffer {
    if let bytes = bodyInMemory(of: store) { return bytes }
    let task = bodyState.withLock { body -> SharedTask<ByteBuffer> in
      switch body {
      case .complete(let bytes): return SharedTask { bytes }
      case .assembling(_, let task): return task
      case .page(let page):
        let task = SharedTask { try await self.assemble(page, from: store, limiter) }
        body = .assembling(page, task)
        return task
      }
    }
    return try await task.value(waitingAtMost: ViewCache.maximumWait)
  }

  private func assemble(
    _ page: PageBody, from store: NewsStore, _ limiter: ConcurrencyLimiter
  ) async throws -> ByteBuffer {
    do {
      var fragments = page.fragmentsInMemory(of: store)
      if fragments == nil { fragments = try await limiter.run { try await page.fragments(from: store) } }
      guard let fragments else { throw OutOfDate() }
      let bytes = try await ComputePool.shared.run(.reading, bytes: page.computedBytes(fragments)) {
        page.assembled(fragments)
      }
      bodyState.withLock { keep(bytes, in: &$0) }
      return bytes
    } catch {
      bodyState.withLock { if case .assembling = $0 { $0 = .page(page) } }
      throw error
    }
  }

  private func keep(_ bytes: ByteBuffer, in body: inout Body) {
    // Two requests may have assembled it.
    if case .complete = body { return }
    body = .complete(bytes)
    grow(by: bytes.readableBytes)
  }

  /// Returns the compressed body, if it was made before.
  func compressedInMemory() -> ByteBuffer? { compressed.withLock { $0 } }

  // MARK: Responses

  /// The header of a response whose body is sent, or not.
  struct Head {
    var status: HTTPResponse.Status
    var fields: HTTPFields
    /// The coding of the body; nil for a 304.
    var coding: ContentCoding?

    /// The header fields with the length of a body.
    func fields(of body: ByteBuffer?) -> HTTPFields {
      var fields = fields
      if let body { fields[.contentLength] = "\(body.readableBytes)" }
      return fields
    }
  }

  /// The bytes that are sent for a body.
  struct Content: Sendable {
    /// The body in its coding; nil for a 304.
    let sent: ByteBuffer?
    /// The length of the plain body in bytes.
    let plainBytes: Int
  }

  /// Evaluates a request's preconditions (RFC 9110 section 13): 200 or 304.
  ///
  /// - Throws: `ProblemError.preconditionFailed`, 412.
  func head(for request: HTTPRequest, _ caching: CachePolicy) throws -> Head {
    let coding = coding(for: request.headerFields)
    let tag = tag.variant(coding)
    let lastModified = lastModified?.value()
    var headers = fields
    headers[.eTag] = tag.fieldValue
    headers[.cacheControl] = caching.publicRead
    headers[.vary] = Self.vary
    // Scripts of other origins read the API, not its pages.
    if contentType != Self.pageContentType { CORS.add(to: &headers) }
    if let lastModified { headers[.lastModified] = HTTPDate.format(lastModified) }
    if let pollInterval = caching.pollInterval() { headers[.pollInterval] = "\(pollInterval)" }
    let validators = Validators(entityTag: tag, lastModified: lastModified, isLastModifiedStrong: true)
    switch Preconditions(fields: request.headerFields).evaluate(method: request.method, current: validators) {
    case .notModified: return Head(status: .notModified, fields: headers)
    case .failed: throw ProblemError.preconditionFailed
    case .proceed: break
    }
    headers[.contentType] = contentType
    if coding == .gzip { headers[.contentEncoding] = "gzip" }
    return Head(status: .ok, fields: headers, coding: coding)
  }

  /// Evaluates a request's preconditions and responds with 200 or 304.
  ///
  /// - Parameters:
  ///   - metrics: The metrics for saved bytes.
  ///   - body: Returns the plain body. It is not called for a 304.
  /// - Throws: `ProblemError.preconditionFailed`, 412; the errors of `body`.
  func response(
    to request: Request, _ caching: CachePolicy, _ metrics: APIMetrics, body: () async throws -> ByteBuffer
  ) async throws -> Response {
    let head = try head(for: request.head, caching)
    let content = try await content(of: head, body: body)
    // A HEAD has no body, so nothing is saved.
    if request.method == .get { metrics.countSaved(content) }
    return Response(
      status: head.status, headers: head.fields, body: content.sent.map(ResponseBody.init(byteBuffer:)) ?? .init())
  }

  /// Returns the content of a response, whose body is loaded if it is not in memory.
  ///
  /// - Parameter body: Returns the plain body. It is not called for a 304.
  private func content(of head: Head, body: () async throws -> ByteBuffer) async throws -> Content {
    guard let coding = head.coding else { return Content(sent: nil, plainBytes: knownBytes) }
    let plain = try await body()
    return Content(sent: coding == .gzip ? try await compressed(plain) : plain, plainBytes: plain.readableBytes)
  }

  /// Returns the content of a response; nil if it is not in memory.
  private func contentInMemory(of head: Head, _ store: NewsStore) -> Content? {
    guard let coding = head.coding else { return Content(sent: nil, plainBytes: knownBytes) }
    guard let plain = bodyInMemory(of: store) else { return nil }
    let sent = coding == .gzip ? compressedInMemory() : plain
    return sent.map { Content(sent: $0, plainBytes: plain.readableBytes) }
  }

  /// Returns the compressed body.
  ///
  /// - Throws: The errors of `ComputePool.run`.
  func compressed(_ body: ByteBuffer) async throws -> ByteBuffer {
    if let known = compressedInMemory() { return known }
    // 64 KiB take less than a millisecond.
    let made = try await ComputePool.shared.run(.reading, bytes: body.readableBytes / 8) { Gzip.compress(body) }
    compressed.withLock { compressed in
      if compressed == nil { grow(by: made.readableBytes) }
      compressed = made
    }
    return made
  }

  private static let vary = Vary(.acceptEncoding).fieldValue

  /// Returns the coding for a client. A client that refuses both codings receives the plain bytes, which are more useful
  /// than a 406.
  private func coding(for headers: HTTPFields) -> ContentCoding {
    guard minimumBytes >= Self.minimumCompressedBytes else { return .identity }
    return AcceptEncoding(fields: headers).preferredCoding(among: [.gzip, .identity]) ?? .identity
  }
}

extension Representation {
  /// The parts of a plain GET on which its response depends.
  struct Conditions: Hashable, Sendable {
    var ifNoneMatch: String?
    var ifModifiedSince: String?
    var acceptEncoding: String?
    var isLongPoll = false

    /// The GET with these conditions. Its target does not matter to them.
    fileprivate var request: HTTPRequest {
      var fields = HTTPFields()
      fields[.ifNoneMatch] = ifNoneMatch
      fields[.ifModifiedSince] = ifModifiedSince
      fields[.acceptEncoding] = acceptEncoding
      return HTTPRequest(method: .get, scheme: "http", authority: nil, path: "/", headerFields: fields)
    }

    /// Whether the fields are so long that a client may have made them up to fill memory.
    fileprivate var isLong: Bool {
      [ifNoneMatch, ifModifiedSince, acceptEncoding].reduce(0) { $0 + ($1?.utf8.count ?? 0) } > 256
    }
  }

  /// A complete response, valid as long as its date and poll interval are.
  struct Stored: Sendable {
    let response: StoredResponse
    let content: Content
    /// Whether the response has the field `Last-Modified`.
    fileprivate let isDated: Bool
    fileprivate let pollInterval: Int?
  }

  /// The maximum number of responses that are stored with a representation.
  private static let maximumStoredResponses = 16

  /// Returns the response to a GET with these conditions and no others; nil for another status than 200 and 304, and if
  /// the body would have to be read or compressed.
  func stored(for conditions: Conditions, _ caching: CachePolicy, from store: NewsStore) -> Stored? {
    let (isDated, pollInterval) = (lastModified?.value() != nil, caching.pollInterval())
    let known = storedResponses.withLock { $0[conditions] }
    if let known, known.isDated == isDated, known.pollInterval == pollInterval { return known }
    guard let head = try? head(for: conditions.request, caching), let content = contentInMemory(of: head, store) else {
      return nil
    }
    return keep(content, head, for: conditions)
  }

  /// Returns the response to a GET with these conditions and no others, whose body is loaded if it is not in memory.
  ///
  /// - Parameter body: Returns the plain body. It is not called for a 304.
  /// - Throws: `ProblemError`, 412; the errors of `body`.
  func loaded(
    for conditions: Conditions, _ caching: CachePolicy, body: () async throws -> ByteBuffer
  ) async throws -> Stored {
    let head = try head(for: conditions.request, caching)
    return keep(try await content(of: head, body: body), head, for: conditions)
  }

  private func keep(_ content: Content, _ head: Head, for conditions: Conditions) -> Stored {
    let stored = Stored(
      response: StoredResponse(status: head.status, fields: head.fields(of: content.sent), body: content.sent),
      content: content, isDated: head.fields[.lastModified] != nil,
      pollInterval: head.fields[.pollInterval].flatMap { Int($0) })
    storedResponses.withLock { responses in
      // Conditions that a client has made up are not worth storing.
      if !conditions.isLong, responses.count < Self.maximumStoredResponses || responses[conditions] != nil {
        responses[conditions] = stored
      }
    }
    return stored
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
  ///   - read: A time of that clock.
  package init(_ date: Date, _ read: DatabaseInstant) {
    self.date = date
    end = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down) + 1)
    visibleFrom = read.instant + .seconds(max(0, end.timeIntervalSince(read.date)))
  }

  /// Returns the date; nil while its second is not over by the clock of the database or of this machine. A date later than
  /// `Date` is not sent (RFC 9110 section 8.8.2.1).
  package func value(at instant: ContinuousClock.Instant = .now, by clock: Date = Date()) -> Date? {
    instant >= visibleFrom && clock >= end ? date : nil
  }
}
