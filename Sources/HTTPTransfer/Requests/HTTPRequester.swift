package import Foundation
import HTTPConditions

/// Requests a resource: follows redirects by the client's own rules, reads the body up to a limit, and measures the
/// cost.
package struct HTTPRequester: Sendable {
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
  package struct Response: Sendable {
    package var head: HTTPTransportResponse
    package var body: Data
    /// The URL that has sent it after redirects; nil if none was followed.
    package var url: URL?

    package init(head: HTTPTransportResponse, body: Data, url: URL? = nil) {
      (self.head, self.body, self.url) = (head, body, url)
    }
  }

  /// The maximum number of redirects that are followed.
  package static let maximumRedirects = 5
  /// The maximum number of bytes in a body. Large files are downloaded with ``open(_:fields:originFields:meter:)``.
  package static let maximumBodyBytes = 8 << 20

  package var transport: any HTTPTransport
  package var userAgent: String
  /// The current time, against which dates in responses are evaluated.
  package var now: @Sendable () -> Date
  /// The waits that servers have demanded of this store.
  package var retryAfterStore: RetryAfterStore
  /// Receives the meter after each change of a GET request. The cost is thus known even if the request never ends.
  package var reportMeter: @Sendable (Meter) -> Void = { _ in }

  /// Creates a requester.
  ///
  /// - Parameters:
  ///   - transport: The HTTP transport.
  ///   - userAgent: The value of `User-Agent`.
  ///   - now: Returns the current time.
  ///   - retryAfterStore: The waits that servers have demanded.
  package init(
    transport: any HTTPTransport, userAgent: String, now: @escaping @Sendable () -> Date,
    retryAfterStore: RetryAfterStore
  ) {
    (self.transport, self.userAgent, self.now, self.retryAfterStore) = (transport, userAgent, now, retryAfterStore)
  }

  /// Requests JSON, and reads the response.
  ///
  /// - Throws: ``FetchError``, or `CancellationError` once the task is cancelled.
  package func get(_ url: URL, conditions: Conditions = Conditions(), meter: inout Meter) async throws -> Response {
    let fields = [HTTPHeader("Accept", "application/json"), HTTPHeader("Accept-Encoding", "gzip")]
    let head = try await open(url, fields: fields, originFields: conditions.headers, meter: &meter)
    return Response(head: head, body: try await body(of: head, meter: &meter))
  }

  /// Requests any resource, and leaves the body of the response to the caller.
  ///
  /// - Parameters:
  ///   - fields: The fields that are sent to every redirect target too, together with `User-Agent`.
  ///   - originFields: The fields that are sent only to the origin of the URL.
  ///   - keepsCoding: Whether the content is wanted with its coding, if the transport can leave it. The response says so.
  /// - Throws: ``FetchError``, or `CancellationError` once the task is cancelled.
  package func open(
    _ url: URL, fields: [HTTPHeader], originFields: [HTTPHeader], keepsCoding: Bool = false, meter: inout Meter
  ) async throws -> HTTPTransportResponse {
    var url = url
    var originFields = originFields
    for _ in 0...Self.maximumRedirects {
      let head = try await head(url, fields: fields + originFields, keepsCoding: keepsCoding, meter: &meter)
      guard [301, 302, 303, 307, 308].contains(head.status) else { return head }
      _ = try await body(of: head, meter: &meter)
      if let retryAfter = retryAfter(of: head) {
        throw FetchError(
          .unavailable, "the server demands a wait (Retry-After)", status: head.status,
          retryAfter: .seconds(retryAfter))
      }
      let next = try target(of: head, from: url)
      if !Self.isSameOrigin(next, url) { originFields = [] }
      url = next
    }
    throw FetchError(.redirect, "more than \(Self.maximumRedirects) redirects", status: meter.status)
  }

  /// Sends a file, and reads the beginning of the response. Redirects are followed as by
  /// ``send(json:to:method:headers:meter:)``.
  ///
  /// - Parameters:
  ///   - headers: The fields that are sent together with `User-Agent`.
  ///   - maximumBytes: The maximum number of bytes of the response body to return.
  /// - Throws: ``FetchError``, or `CancellationError` once the task is cancelled.
  package func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader], maximumBytes: Int, meter: inout Meter
  ) async throws -> (HTTPTransportResponse, Data) {
    let response = try await exchange(url, &meter) { url in
      let fields = [HTTPHeader("User-Agent", userAgent)] + headers
      return try await transport.upload(file, to: url, method: method, headers: fields)
    } read: { head, _ in
      var body = Data()
      for try await chunk in head.body {
        body.append(chunk.prefix(maximumBytes - body.count))
        // A response may be endless.
        if body.count == maximumBytes { break }
      }
      return body
    }
    return (response.head, response.body)
  }

  /// Sends a request, and repeats it at the targets of redirects that keep its method, within the origin of the URL.
  ///
  /// - Returns: The first other response, and its URL.
  private func exchange(
    _ url: URL, _ meter: inout Meter, send: (URL) async throws -> HTTPTransportResponse,
    read: (HTTPTransportResponse, inout Meter) async throws -> Data
  ) async throws -> Response {
    var url = url
    for _ in 0...Self.maximumRedirects {
      try check(url)
      meter.requests += 1
      let response: Response
      do {
        let head = try await send(url)
        meter.status = head.status
        storeRetryAfter(head, url)
        response = Response(head: head, body: try await read(head, &meter), url: url)
      } catch {
        throw try Self.failure(error, meter, url)
      }
      let head = response.head
      guard [307, 308].contains(head.status), let next = try? target(of: head, from: url),
        Self.isSameOrigin(next, url)
      else { return response }
      url = next
    }
    throw FetchError(.redirect, "more than \(Self.maximumRedirects) redirects")
  }

  /// Sends JSON, or nothing, and reads the response. A redirect that keeps the method (307, 308) is followed within the origin
  /// of the URL, because the content and the fields are for no other one.
  ///
  /// - Parameters:
  ///   - headers: The fields that are sent together with `User-Agent` and those of the content. They may have credentials.
  /// - Throws: ``FetchError``, or `CancellationError` once the task is cancelled.
  package func send(
    json: Data, to url: URL, method: String, headers: [HTTPHeader], meter: inout Meter
  ) async throws -> Response {
    let type = json.isEmpty ? [] : [HTTPHeader("Content-Type", "application/json")]
    let fields = [HTTPHeader("User-Agent", userAgent), HTTPHeader("Accept", "application/json")] + type + headers
    return try await exchange(url, &meter) { url in
      try await transport.send(json, to: url, method: method, headers: fields)
    } read: { head, meter in
      try await body(of: head, meter: &meter)
    }
  }

  /// Returns the wait that a response demands, in seconds; nil if it demands none.
  func retryAfter(of head: HTTPTransportResponse) -> Double? {
    head["Retry-After"].flatMap {
      RetryAfterField.seconds($0, date: head["Date"], now: now(), maximum: RetryAfterStore.maximumWait)
    }
  }

  private func head(
    _ url: URL, fields: [HTTPHeader], keepsCoding: Bool, meter: inout Meter
  ) async throws -> HTTPTransportResponse {
    try check(url)
    let headers = [HTTPHeader("User-Agent", userAgent)] + fields
    let before = meter
    meter.requests += 1
    meter.status = nil
    meter.bytes += Self.size(of: headers) + "GET  HTTP/1.1\r\nHost: \r\n".utf8.count + Self.authorityAndTarget(url)
    reportMeter(meter)
    do {
      let head: HTTPTransportResponse
      if keepsCoding, let transport = transport as? any CodedTransport {
        head = try await transport.getCoded(url, headers: headers)
      } else {
        head = try await transport.get(url, headers: headers)
      }
      meter.status = head.status
      meter.bytes += "HTTP/1.1 200 OK\r\n".utf8.count + Self.size(of: head.headers)
      storeRetryAfter(head, url)
      reportMeter(meter)
      return head
    } catch {
      if (error as? HTTPTransportError)?.isUnsent == true {
        (meter.requests, meter.bytes) = (before.requests, before.bytes)
        reportMeter(meter)
      }
      throw try Self.failure(error, meter, url)
    }
  }

  /// Reads the body of a response, up to ``maximumBodyBytes``.
  ///
  /// - Throws: ``FetchError``, or `CancellationError` once the task is cancelled.
  package func body(of head: HTTPTransportResponse, meter: inout Meter) async throws -> Data {
    var body = Data()
    let before = meter.bytes
    do {
      for try await chunk in head.body {
        body.append(chunk)
        meter.bytes = before + body.count
        reportMeter(meter)
        if body.count > Self.maximumBodyBytes {
          let limit = ByteAmount.limit(Int64(Self.maximumBodyBytes))
          throw FetchError(.tooLarge, "the response has more than \(limit)", status: head.status)
        }
      }
    } catch {
      let failure = try Self.failure(error, meter)
      switch (error as? HTTPTransportError)?.detail {
      case .earlyEnd:
        let length = head["Content-Encoding"] == nil ? head["Content-Length"].flatMap(Int64.init) : nil
        let received = ByteAmount.text(Int64(body.count), of: length ?? -1)
        throw FetchError(.unreachable, "the connection ended after \(received)", status: head.status)
      case .tooLarge:
        throw FetchError(.tooLarge, "the response has \(ConnectionFailure.reason(error))", status: head.status)
      case .coding:
        let reason = ConnectionFailure.reason(error)
        throw FetchError(.unreachable, "the response cannot be unpacked: \(reason)", status: head.status)
      case nil: throw failure
      }
    }
    // The `Content-Length` of a 304 is that of the response it stands for.
    if !body.isEmpty, let length = Self.compressedLength(head) { meter.bytes = before + length }
    reportMeter(meter)
    return body
  }

  /// Checks that a URL can be requested, and that the server accepts requests. A wait applies to all resources of an
  /// origin.
  ///
  /// - Throws: ``FetchError`` with `rejected` or `retryAfterPending`.
  private func check(_ url: URL) throws {
    if let obstacle = url.requestObstacle {
      throw FetchError(.rejected, "cannot request \(url.absoluteString.singleLine): \(obstacle)")
    }
    let seconds = retryAfterStore.remaining(for: url)
    guard seconds > 0 else { return }
    throw FetchError(.retryAfterPending, Self.waitMessage(seconds), retryAfter: .seconds(seconds))
  }

  /// Returns the message for a request during a wait, with the remaining seconds.
  package static func waitMessage(_ seconds: Double) -> String {
    "the server accepts no requests for another \(Int(seconds.rounded(.up))) s (Retry-After)"
  }

  /// Stores the wait that a response demands.
  private func storeRetryAfter(_ head: HTTPTransportResponse, _ url: URL) {
    guard Self.isTemporary(head.status) || 300...399 ~= head.status, head.status != 304,
      let seconds = retryAfter(of: head)
    else { return }
    retryAfterStore.delay(url, seconds: seconds)
  }

  /// - Throws: `CancellationError` once the task is cancelled.
  private static func failure(_ error: any Error, _ meter: Meter, _ url: URL? = nil) throws -> FetchError {
    if let error = error as? FetchError { return error }
    try Task.checkCancellation()
    if error as? HTTPTransportError == .noContent { return FetchError(.rejected, HTTPTransportError.noContent.message) }
    let reason = ConnectionFailure.reason(error).singleLine
    guard meter.status == nil else {
      return FetchError(.unreachable, "the response was interrupted: \(reason)", status: meter.status)
    }
    let server = url?.host().map { " from \($0)" + (url?.port.map { ":\($0)" } ?? "") } ?? ""
    var failure = FetchError(.unreachable, "no response\(server): \(reason)")
    failure.isOffline = (error as? HTTPTransportError)?.kind == .offline
    return failure
  }

  private func target(of head: HTTPTransportResponse, from url: URL) throws -> URL {
    guard let location = head["Location"], let next = URL(string: location, relativeTo: url)?.absoluteURL else {
      throw FetchError(.redirect, "the redirect has no valid Location", status: head.status)
    }
    if let obstacle = next.requestObstacle {
      throw FetchError(.redirect, "the redirect has no valid Location: \(obstacle)", status: head.status)
    }
    if url.scheme?.lowercased() == "https", next.scheme?.lowercased() == "http" {
      throw FetchError(.redirect, "the redirect leads from https to http", status: head.status)
    }
    if next.user() != nil || next.password() != nil {
      throw FetchError(.redirect, "the redirect contains a user name or a password", status: head.status)
    }
    return next
  }

  static func isSameOrigin(_ one: URL, _ other: URL) -> Bool {
    one.scheme?.lowercased() == other.scheme?.lowercased() && one.host()?.lowercased() == other.host()?.lowercased()
      && one.effectivePort == other.effectivePort
  }

  private static func size(of headers: [HTTPHeader]) -> Int {
    headers.reduce(2) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
  }

  private static func authorityAndTarget(_ url: URL) -> Int {
    let scheme = (url.scheme?.utf8.count ?? 0) + "://".utf8.count
    return url.absoluteString.utf8.count - scheme
  }

  /// Returns the bytes of a compressed body, 0...``maximumBodyBytes``, since a server may claim any length; nil without
  /// compression.
  private static func compressedLength(_ head: HTTPTransportResponse) -> Int? {
    guard head["Content-Encoding"] != nil else { return nil }
    return head["Content-Length"].flatMap(Int.init).map { min(max($0, 0), maximumBodyBytes) }
  }
}
