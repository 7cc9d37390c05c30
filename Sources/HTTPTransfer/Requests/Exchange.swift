package import Foundation

/// Requests a resource: follows redirects by the client's own rules, reads the body up to a limit, and measures the
/// cost.
package struct Exchange: Sendable {
  /// The requests and bytes sent and received.
  package struct Meter: Sendable, Equatable {
    package var requests = 0
    /// The heads and bodies in both directions, as written in HTTP/1.1. A compressed body counts as its
    /// `Content-Length`.
    package var bytes = 0
    /// The status of the last response.
    package var status: Int?

    package init() {}
  }

  /// The validators of a conditional request. They belong to one origin.
  package struct Conditions: Sendable, Hashable, Codable {
    /// The entity tag as received, quotes included, because a tag is opaque.
    package var entityTag: String?
    /// The `Last-Modified` date as received.
    package var lastModified: String?

    package init(entityTag: String? = nil, lastModified: String? = nil) {
      (self.entityTag, self.lastModified) = (entityTag, lastModified)
    }

    package var headers: [HTTPHeader] {
      [entityTag.map { HTTPHeader("If-None-Match", $0) }, lastModified.map { HTTPHeader("If-Modified-Since", $0) }]
        .compactMap { $0 }
    }
  }

  /// A response whose body has been read.
  package struct Answer: Sendable {
    package var head: HTTPAnswer
    package var body: Data

    package init(head: HTTPAnswer, body: Data) { (self.head, self.body) = (head, body) }
  }

  package static let mostRedirections = 5
  /// The maximum number of bytes in a body. A page of the API has at most 1 MiB.
  package static let mostBytes = 8 << 20

  package var transport: any HTTPTransport
  package var userAgent: String
  /// The current time, against which dates in responses are evaluated.
  package var now: @Sendable () -> Date
  /// The waits that servers have demanded of this store.
  package var holds: OriginHolds
  /// Receives the meter after each change of a GET request. The cost is thus known even if the exchange never ends.
  package var note: @Sendable (Meter) -> Void = { _ in }

  /// Creates a requester.
  ///
  /// - Parameters:
  ///   - transport: The HTTP transport.
  ///   - userAgent: The value of `User-Agent`.
  ///   - now: Returns the current time.
  ///   - holds: The waits that servers have demanded.
  package init(
    transport: any HTTPTransport, userAgent: String, now: @escaping @Sendable () -> Date, holds: OriginHolds
  ) {
    (self.transport, self.userAgent, self.now, self.holds) = (transport, userAgent, now, holds)
  }

  /// Requests JSON, and reads the response.
  ///
  /// - Throws: ``FetchError``, or `CancellationError` once the task is cancelled.
  package func get(_ url: URL, conditions: Conditions = Conditions(), meter: inout Meter) async throws -> Answer {
    let fields = [HTTPHeader("Accept", "application/json"), HTTPHeader("Accept-Encoding", "gzip")]
    let head = try await open(url, fields: fields, originFields: conditions.headers, meter: &meter)
    return Answer(head: head, body: try await body(of: head, meter: &meter))
  }

  /// Requests any resource, and leaves the body of the response to the caller.
  ///
  /// - Parameters:
  ///   - fields: The fields that are sent to every redirect target too, together with `User-Agent`.
  ///   - originFields: The fields that are sent only to the origin of the URL.
  /// - Throws: ``FetchError``, or `CancellationError` once the task is cancelled.
  package func open(
    _ url: URL, fields: [HTTPHeader], originFields: [HTTPHeader], meter: inout Meter
  ) async throws -> HTTPAnswer {
    var url = url
    var originFields = originFields
    for _ in 0...Self.mostRedirections {
      let head = try await head(url, fields: fields + originFields, meter: &meter)
      guard [301, 302, 303, 307, 308].contains(head.status) else { return head }
      _ = try await body(of: head, meter: &meter)
      if let retryAfter = retryAfter(of: head) {
        throw FetchError(.unavailable, "the server asks to come later", status: head.status, retryAfter: retryAfter)
      }
      let next = try target(of: head, from: url)
      if !Self.isSameOrigin(next, url) { originFields = [] }
      url = next
    }
    throw FetchError(.redirect, "more than \(Self.mostRedirections) redirections", status: meter.status)
  }

  /// Sends a file, and reads the beginning of the response. Redirects are not followed.
  ///
  /// - Parameters:
  ///   - headers: The fields that are sent together with `User-Agent`.
  ///   - most: The maximum number of bytes of the response body to return.
  /// - Throws: ``FetchError``, or `CancellationError` once the task is cancelled.
  package func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader], most: Int, meter: inout Meter
  ) async throws -> (HTTPAnswer, Data) {
    try checkHold(url)
    meter.requests += 1
    do {
      let head = try await transport.upload(
        file, to: url, method: method, headers: [HTTPHeader("User-Agent", userAgent)] + headers)
      meter.status = head.status
      noteHold(head, url)
      var body = Data()
      for try await chunk in head.body {
        body.append(chunk.prefix(most - body.count))
        // A response may be endless.
        if body.count == most { break }
      }
      return (head, body)
    } catch {
      throw try Self.failure(error, meter, url)
    }
  }

  /// Returns the wait that a response demands, in seconds; nil if it demands none.
  package func retryAfter(of head: HTTPAnswer) -> Double? {
    head["Retry-After"].flatMap { RetryAfter.seconds($0, date: head["Date"], now: now()) }
  }

  private func head(_ url: URL, fields: [HTTPHeader], meter: inout Meter) async throws -> HTTPAnswer {
    try checkHold(url)
    let headers = [HTTPHeader("User-Agent", userAgent)] + fields
    let before = meter
    meter.requests += 1
    meter.status = nil
    meter.bytes += Self.size(of: headers) + "GET  HTTP/1.1\r\nHost: \r\n".utf8.count + Self.authorityAndTarget(url)
    note(meter)
    do {
      let head = try await transport.get(url, headers: headers)
      meter.status = head.status
      meter.bytes += "HTTP/1.1 200 OK\r\n".utf8.count + Self.size(of: head.headers)
      noteHold(head, url)
      note(meter)
      return head
    } catch {
      if (error as? HTTPTransportError)?.isUnsent == true {
        (meter.requests, meter.bytes) = (before.requests, before.bytes)
        note(meter)
      }
      throw try Self.failure(error, meter, url)
    }
  }

  /// Reads the body of a response, up to ``mostBytes``.
  ///
  /// - Throws: ``FetchError``, or `CancellationError` once the task is cancelled.
  package func body(of head: HTTPAnswer, meter: inout Meter) async throws -> Data {
    var body = Data()
    let before = meter.bytes
    do {
      for try await chunk in head.body {
        body.append(chunk)
        meter.bytes = before + body.count
        note(meter)
        if body.count > Self.mostBytes {
          throw FetchError(.tooLarge, "an answer of more than \(Self.mostBytes) bytes", status: head.status)
        }
      }
    } catch {
      throw try Self.failure(error, meter)
    }
    // The `Content-Length` of a 304 is that of the response it stands for.
    if !body.isEmpty, let length = Self.codedLength(head) { meter.bytes = before + length }
    note(meter)
    return body
  }

  /// Checks that the server accepts requests. A wait applies to all resources of an origin.
  ///
  /// - Throws: ``FetchError`` with `held`.
  private func checkHold(_ url: URL) throws {
    let seconds = holds.remaining(url)
    guard seconds > 0 else { return }
    throw FetchError(.held, Self.heldMessage(seconds), retryAfter: seconds)
  }

  /// Returns the message for a request that is held back, with the remaining seconds.
  package static func heldMessage(_ seconds: Double) -> String {
    "the server has asked for no requests for another \(Int(seconds.rounded(.up))) s"
  }

  /// Stores the wait that a response demands.
  private func noteHold(_ head: HTTPAnswer, _ url: URL) {
    guard head.status == 429 || head.status >= 500 || 300...399 ~= head.status, head.status != 304,
      let seconds = retryAfter(of: head)
    else { return }
    holds.hold(url, seconds: seconds)
  }

  /// - Throws: `CancellationError` once the task is cancelled.
  private static func failure(_ error: any Error, _ meter: Meter, _ url: URL? = nil) throws -> FetchError {
    if let error = error as? FetchError { return error }
    try Task.checkCancellation()
    let reason = ConnectionFailure.reason(error).singleLine
    guard meter.status == nil else {
      return FetchError(.unreachable, "the answer was cut off: \(reason)", status: meter.status)
    }
    let server = url?.host().map { " from \($0)" + (url?.port.map { ":\($0)" } ?? "") } ?? ""
    var failure = FetchError(.unreachable, "no answer\(server): \(reason)")
    failure.isOffline = (error as? HTTPTransportError)?.kind == .offline
    return failure
  }

  private func target(of head: HTTPAnswer, from url: URL) throws -> URL {
    guard let location = head["Location"], let next = URL(string: location, relativeTo: url)?.absoluteURL,
      let scheme = next.scheme?.lowercased(), ["http", "https"].contains(scheme), next.host() != nil
    else { throw FetchError(.redirect, "a redirection to nowhere", status: head.status) }
    if url.scheme?.lowercased() == "https", scheme == "http" {
      throw FetchError(.redirect, "a redirection from https to http", status: head.status)
    }
    if next.user() != nil || next.password() != nil {
      throw FetchError(.redirect, "a redirection with a password", status: head.status)
    }
    return next
  }

  private static func isSameOrigin(_ one: URL, _ other: URL) -> Bool {
    one.scheme?.lowercased() == other.scheme?.lowercased() && one.host()?.lowercased() == other.host()?.lowercased()
      && one.port == other.port
  }

  private static func size(of headers: [HTTPHeader]) -> Int {
    headers.reduce(2) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
  }

  private static func authorityAndTarget(_ url: URL) -> Int {
    let scheme = (url.scheme?.utf8.count ?? 0) + "://".utf8.count
    return url.absoluteString.utf8.count - scheme
  }

  /// Returns the bytes of a compressed body, 0...``mostBytes``; nil without compression. A server may claim any length
  /// for a response without a body, such as a 304.
  private static func codedLength(_ head: HTTPAnswer) -> Int? {
    guard head["Content-Encoding"] != nil, head.status != 304 else { return nil }
    return head["Content-Length"].flatMap(Int.init).map { min(max($0, 0), mostBytes) }
  }
}
