import HTTPConditions
import HTTPEdge
import HTTPTypes
import Hummingbird
import NIOCore
import NewsStore
import Synchronization

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
    /// The bytes of the body that a 304, or compression, has saved.
    let savedByNotModified: Int
    let savedByCompression: Int
    /// Whether the response has the field `Last-Modified`.
    fileprivate let isDated: Bool
    fileprivate let pollInterval: Int?
  }

  /// The maximum number of responses that are stored with a representation.
  private static let maximumStoredResponses = 16

  /// Returns the response to a GET with these conditions and no others; nil for another status than 200 and 304, and if
  /// the body would have to be read or compressed.
  func stored(
    for conditions: Conditions, _ caching: CachePolicy, from store: NewsStore
  ) -> Stored? {
    let isDated = lastModified?.value() != nil
    let pollInterval = caching.pollInterval()
    return storedResponses.withLock { responses in
      if let known = responses[conditions], known.isDated == isDated, known.pollInterval == pollInterval {
        return known
      }
      guard let head = try? self.head(for: conditions.request, caching), let body = body(of: head, from: store) else {
        return nil
      }
      let stored = Stored(
        response: StoredResponse(status: head.status, fields: head.fields(of: body.sent), body: body.sent),
        savedByNotModified: body.sent == nil ? knownBytes : 0,
        savedByCompression: body.sent.map { max(0, body.plainBytes - $0.readableBytes) } ?? 0,
        isDated: isDated, pollInterval: pollInterval)
      // Conditions that a client has made up are not worth storing.
      if !conditions.isLong, responses.count < Self.maximumStoredResponses || responses[conditions] != nil {
        responses[conditions] = stored
      }
      return stored
    }
  }

  /// Makes the body that the response to a request needs, so that it is in memory.
  ///
  /// - Parameter body: Returns the plain body.
  /// - Throws: `ProblemError`, 412; the errors of `body`.
  func prepare(
    for conditions: Conditions, _ caching: CachePolicy, body: () async throws -> ByteBuffer
  ) async throws {
    guard let coding = try head(for: conditions.request, caching).coding else { return }
    let plain = try await body()
    if coding == .gzip { _ = try await compressed(plain) }
  }

  /// Returns the body of a response with a head; nil if it is not in memory.
  private func body(of head: Head, from store: NewsStore) -> (sent: ByteBuffer?, plainBytes: Int)? {
    guard let coding = head.coding else { return (nil, 0) }
    if coding == .gzip {
      guard let compressed = compressedInMemory(), let plain = bodyInMemory(of: store) else { return nil }
      return (compressed, plain.readableBytes)
    }
    return bodyInMemory(of: store).map { ($0, $0.readableBytes) }
  }
}
