import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A request and its redirects") struct RequesterTests {
  /// A transport whose responses depend on the URL only. It records the requests.
  private final class Recorder: HTTPTransport {
    struct Call: Sendable {
      var method: String
      var url: URL
      var headers: [HTTPHeader]
    }

    private let recorded = Mutex<[Call]>([])
    private let answer: @Sendable (URL) -> HTTPTransportResponse

    init(_ answer: @escaping @Sendable (URL) -> HTTPTransportResponse) { self.answer = answer }

    var calls: [Call] { recorded.withLock(\.self) }

    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      try await send(Data(), to: url, method: "GET", headers: headers)
    }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { try await send(Data(), to: url, method: method, headers: headers) }

    func send(
      _ content: Data, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse {
      recorded.withLock { $0.append(Call(method: method, url: url, headers: headers)) }
      return answer(url)
    }
  }

  private static func response(
    _ status: Int, _ headers: [HTTPHeader] = [], _ chunks: [Data] = []
  ) -> HTTPTransportResponse {
    let body = AsyncThrowingStream<Data, any Error> { continuation in
      for chunk in chunks { continuation.yield(chunk) }
      continuation.finish()
    }
    return HTTPTransportResponse(status: status, headers: headers, body: body)
  }

  private func requester(_ transport: Recorder, _ clock: ManualClock = ManualClock()) -> HTTPRequester {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-none-\(UUID().uuidString)")
    return HTTPRequester(
      transport: transport, userAgent: "tests", now: { clock.now.date },
      retryAfterStore: RetryAfterStore(store: folder, clock: clock))
  }

  @Test("for JSON has its validators, and costs the bytes that HTTP/1.1 would need")
  func cost() async throws {
    let transport = Recorder { _ in Self.response(200, [HTTPHeader("ETag", "\"1\"")], [Data("{}".utf8)]) }
    let url = try #require(URL(string: "https://news.example/v1/items?limit=1"))
    let date = "Thu, 01 Jan 1970 00:00:00 GMT"
    var meter = HTTPRequester.Meter()
    let response = try await requester(transport).get(
      url, conditions: HTTPRequester.Conditions(entityTag: "\"0\"", lastModified: date), meter: &meter)
    #expect(response.body == Data("{}".utf8))
    let request = """
      GET /v1/items?limit=1 HTTP/1.1\r\nHost: news.example\r\nUser-Agent: tests\r\nAccept: application/json\r\n\
      Accept-Encoding: gzip\r\nIf-None-Match: "0"\r\nIf-Modified-Since: \(date)\r\n\r\n
      """
    #expect(meter.bytes == request.utf8.count + "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n\r\n{}".utf8.count)
    #expect((meter.requests, meter.status) == (1, 200))
    let fields = try #require(transport.calls.first?.headers).map { "\($0.name): \($0.value)" }
    #expect(
      fields == [
        "User-Agent: tests", "Accept: application/json", "Accept-Encoding: gzip", "If-None-Match: \"0\"",
        "If-Modified-Since: \(date)",
      ])
  }

  @Test(
    "whose response is compressed costs the length that it declares, within reason",
    arguments: [("10", 10), ("-5", 0), ("99999999999", 8 << 20), ("x", 100)])
  func compressed(length: String, bytes: Int) async throws {
    let headers = [HTTPHeader("Content-Encoding", "gzip"), HTTPHeader("Content-Length", length)]
    let url = try #require(URL(string: "https://news.example/"))
    var costs: [Int] = []
    for body in [[], [Data(count: 100)]] {
      var meter = HTTPRequester.Meter()
      _ = try await requester(Recorder { _ in Self.response(200, headers, body) }).get(url, meter: &meter)
      costs.append(meter.bytes)
    }
    #expect(costs[1] - costs[0] == bytes)
  }

  @Test("follows five redirects of each kind, and no sixth", arguments: [301, 302, 303, 307, 308])
  func redirects(status: Int) async throws {
    let url = try #require(URL(string: "https://news.example/0"))
    for hops in [5, 6] {
      let transport = Recorder { url in
        let number = Int(url.lastPathComponent) ?? 0
        return number < hops ? Self.response(status, [HTTPHeader("Location", "/\(number + 1)")]) : Self.response(200)
      }
      var meter = HTTPRequester.Meter()
      if hops == 5 {
        let response = try await requester(transport).get(url, meter: &meter)
        #expect(response.head.status == 200)
      } else {
        let failure = await #expect(throws: FetchError.self) {
          _ = try await requester(transport).get(url, meter: &meter)
        }
        #expect(failure?.code == .redirect)
        #expect(failure?.message == "more than 5 redirects")
        #expect(failure?.status == status)
      }
      #expect(transport.calls.map(\.url.path) == ["/0", "/1", "/2", "/3", "/4", "/5"])
      #expect(meter.requests == 6)
    }
  }

  @Test("does not follow other responses with a Location", arguments: [200, 201, 300, 304, 305, 306, 404])
  func others(status: Int) async throws {
    let transport = Recorder { _ in Self.response(status, [HTTPHeader("Location", "/1")]) }
    let url = try #require(URL(string: "https://news.example/0"))
    var meter = HTTPRequester.Meter()
    let response = try await requester(transport).get(url, meter: &meter)
    #expect(response.head.status == status)
    #expect(transport.calls.count == 1)
  }

  @Test("is not redirected to a server that demands a wait, nor to an address with a password")
  func refusedTargets() async throws {
    let url = try #require(URL(string: "https://news.example/0"))
    let targets: [(String?, FetchError.Code)] = [
      ("https://busy.example/", .retryAfterPending), ("https://me@news.example/", .redirect),
      ("https://:secret@news.example/", .redirect), ("ftp://news.example/", .redirect), (nil, .redirect),
    ]
    for (target, code) in targets {
      let fields = target.map { [HTTPHeader("Location", $0)] } ?? []
      let transport = Recorder { _ in Self.response(302, fields) }
      let requester = requester(transport)
      requester.retryAfterStore.delay(try #require(URL(string: "https://busy.example/")), seconds: 60)
      var meter = HTTPRequester.Meter()
      let failure = await #expect(throws: FetchError.self) { _ = try await requester.get(url, meter: &meter) }
      #expect(failure?.code == code, "\(target ?? "")")
      #expect(failure?.status == (code == .redirect ? 302 : nil), "\(target ?? "")")
      #expect(transport.calls.count == 1)
    }
  }

  @Test("ends with a redirect that demands a wait, of a day at most")
  func redirectWait() async throws {
    let fields = [HTTPHeader("Location", "/1"), HTTPHeader("Retry-After", "100000")]
    let transport = Recorder { _ in Self.response(302, fields) }
    let url = try #require(URL(string: "https://news.example/0"))
    var meter = HTTPRequester.Meter()
    let failure = await #expect(throws: FetchError.self) { _ = try await requester(transport).get(url, meter: &meter) }
    #expect(failure?.code == .unavailable && failure?.status == 302)
    #expect(failure?.retryAfter == .seconds(86_400) && transport.calls.count == 1)
  }

  @Test("reports its cost at each step, with the content of a redirect, and none for a request that was not sent")
  func reports() async throws {
    let transport = Recorder { url in
      let isFirst = url.lastPathComponent == "0"
      let fields = isFirst ? [("Location", "/1")] : [("Content-Encoding", "gzip"), ("Content-Length", "10")]
      return Self.response(isFirst ? 302 : 200, fields.map { HTTPHeader($0, $1) }, [Data(count: 100)])
    }
    let reports = Mutex<[HTTPRequester.Meter]>([])
    var requester = requester(transport)
    requester.reportMeter = { meter in reports.withLock { $0.append(meter) } }
    let url = try #require(URL(string: "https://news.example/0"))
    var meter = HTTPRequester.Meter()
    _ = try await requester.get(url, meter: &meter)
    let steps = reports.withLock(\.self)
    #expect(steps.map(\.status) == [nil, 302, 302, 302, nil, 200, 200, 200])
    try #require(steps.count == 8)
    #expect(steps[3].bytes == steps[1].bytes + 100)
    #expect(steps[6].bytes == steps[5].bytes + 100)
    #expect(steps[7].bytes == steps[5].bytes + 10 && steps[7] == meter)
    requester.transport = Failing(error: HTTPTransportError(.offline, "it failed"))
    await #expect(throws: FetchError.self) { _ = try await requester.get(url, meter: &meter) }
    #expect(reports.withLock { $0.dropFirst(8).map(\.requests) } == [3, 2])
    #expect(meter.bytes == steps[7].bytes)
  }

  @Test(
    "has its validators after a redirect only within the origin of its URL",
    arguments: [
      ("https://news.example/0", "https://NEWS.example:443/1", true),
      ("https://news.example/0", "https://other.example/1", false),
      ("https://news.example/0", "https://news.example:8443/1", false),
      ("http://news.example:8080/0", "https://news.example:8080/1", false),
    ])
  func origins(start: String, target: String, isSame: Bool) async throws {
    let transport = Recorder { url in
      url.lastPathComponent == "0" ? Self.response(302, [HTTPHeader("Location", target)]) : Self.response(200)
    }
    let url = try #require(URL(string: start))
    var meter = HTTPRequester.Meter()
    _ = try await requester(transport).get(
      url, conditions: HTTPRequester.Conditions(entityTag: "\"0\""), meter: &meter)
    let areConditional = transport.calls.map { call in call.headers.contains { $0.name == "If-None-Match" } }
    #expect(areConditional == [true, isSame])
  }

  @Test(
    "delays others by the Retry-After of a refusal that may pass or of a redirect, and of no other response",
    arguments: [
      (200, false), (299, false), (300, true), (304, false), (305, true), (399, true), (400, false), (428, false),
      (429, true), (430, false), (499, false), (500, true), (599, true),
    ])
  func waits(status: Int, isKept: Bool) async throws {
    let url = try #require(URL(string: "https://news.example/0"))
    for method in ["GET", "PUT", "POST"] {
      let requester = requester(Recorder { _ in Self.response(status, [HTTPHeader("Retry-After", "60")]) })
      let meter = try await send(method, url, requester)
      #expect(meter.status == status && meter.requests == 1)
      #expect(requester.retryAfterStore.remaining(for: url) == (isKept ? 60 : 0), "\(method)")
    }
  }

  /// Sends a request: without a content, with a short one, or with a file.
  private func send(_ method: String, _ url: URL, _ requester: HTTPRequester) async throws -> HTTPRequester.Meter {
    var meter = HTTPRequester.Meter()
    switch method {
    case "GET": _ = try await requester.get(url, meter: &meter)
    case "PUT": _ = try await requester.send(json: Data(), to: url, method: method, headers: [], meter: &meter)
    default:
      let file = HTTPFile(url: url, length: 0) { _ in }
      _ = try await requester.upload(file, to: url, method: method, headers: [], maximumBytes: 100, meter: &meter)
    }
    return meter
  }

  @Test("whose response breaks off has its status, whatever it sends", arguments: ["GET", "PUT", "POST"])
  func interruptedAnswer(method: String) async throws {
    let requester = requester(
      Recorder { _ in
        let body = AsyncThrowingStream<Data, any Error> { continuation in
          continuation.finish(throwing: HTTPTransportError(.broken, "it failed"))
        }
        return HTTPTransportResponse(status: 200, headers: [], body: body)
      })
    let url = try #require(URL(string: "https://news.example/"))
    let failure = await #expect(throws: FetchError.self) { _ = try await send(method, url, requester) }
    #expect(failure?.message == "the response was interrupted: it failed")
    #expect(failure?.status == 200)
  }

  /// A transport that responds only to the first request, with a redirect.
  private struct Vanishing: HTTPTransport {
    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      guard url.lastPathComponent == "0" else { throw HTTPTransportError(.broken, "it failed") }
      return RequesterTests.response(302, [HTTPHeader("Location", "/1")])
    }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { throw HTTPTransportError(.broken, "not used") }
  }

  @Test("without a response after a redirect has no status")
  func vanished() async throws {
    var requester = requester(Recorder { _ in Self.response(200) })
    requester.transport = Vanishing()
    let url = try #require(URL(string: "https://news.example/0"))
    var meter = HTTPRequester.Meter()
    let failure = await #expect(throws: FetchError.self) { _ = try await requester.get(url, meter: &meter) }
    #expect(failure?.message == "no response from news.example: it failed")
    #expect(failure?.status == nil)
    #expect(meter.requests == 2 && meter.status == nil)
  }

  @Test("accepts a body of 8 MiB, and no byte more", arguments: [0, 1])
  func limit(excess: Int) async throws {
    let transport = Recorder { _ in Self.response(200, [], [Data(count: 8 << 20), Data(count: excess)]) }
    let url = try #require(URL(string: "https://news.example/"))
    var meter = HTTPRequester.Meter()
    if excess == 0 {
      let response = try await requester(transport).get(url, meter: &meter)
      #expect(response.body.count == 8 << 20)
    } else {
      let failure = await #expect(throws: FetchError.self) {
        _ = try await requester(transport).get(url, meter: &meter)
      }
      #expect(failure?.code == .tooLarge && failure?.status == 200)
    }
  }

  @Test("names the type of its content if it has one", arguments: ["{}", ""])
  func content(text: String) async throws {
    let transport = Recorder { _ in Self.response(204) }
    let url = try #require(URL(string: "https://news.example/v1/devices"))
    var meter = HTTPRequester.Meter()
    let credentials = HTTPHeader("Authorization", "Bearer key")
    let response = try await requester(transport).send(
      json: Data(text.utf8), to: url, method: "PUT", headers: [credentials], meter: &meter)
    #expect(response.head.status == 204)
    #expect(response.url == url)
    #expect(meter.requests == 1)
    let fields = try #require(transport.calls.first?.headers)
    let type = text.isEmpty ? [] : [HTTPHeader("Content-Type", "application/json")]
    #expect(
      fields == [HTTPHeader("User-Agent", "tests"), HTTPHeader("Accept", "application/json")] + type + [credentials])
  }

  @Test("that is sent nowhere, because the server demands a wait, costs nothing")
  func waiting() async throws {
    let (transport, clock) = (Recorder { _ in Self.response(200) }, ManualClock())
    let requester = requester(transport, clock)
    let url = try #require(URL(string: "https://news.example/v1/devices"))
    requester.retryAfterStore.delay(url, seconds: 60)
    clock.advance(by: 0.5)
    var meter = HTTPRequester.Meter()
    let failure = await #expect(throws: FetchError.self) {
      _ = try await requester.send(json: Data(), to: url, method: "PUT", headers: [], meter: &meter)
    }
    #expect(failure?.code == .retryAfterPending && failure?.retryAfter == .seconds(59.5))
    #expect(failure?.message == "the server accepts no requests for another 60 s (Retry-After)")
    let other = try #require(URL(string: "ftp://news.example/"))
    for method in ["GET", "PUT", "POST"] {
      let refused = await #expect(throws: FetchError.self) { _ = try await send(method, url, requester) }
      #expect(refused?.code == .retryAfterPending, "\(method)")
      let invalid = await #expect(throws: FetchError.self) { _ = try await send(method, other, requester) }
      #expect(invalid?.code == .rejected, "\(method)")
      #expect(invalid?.message == "cannot request ftp://news.example/: it is not an http or https URL", "\(method)")
    }
    #expect(transport.calls.isEmpty && meter.requests == 0)
  }

  /// A transport that always fails.
  private struct Failing: HTTPTransport {
    let error: HTTPTransportError

    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse { throw error }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { throw error }

    func send(
      _ content: Data, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { throw error }
  }

  @Test(
    "without a response names the server, and its port if it is not that of the scheme",
    arguments: [
      ("https://news.example/x", "news.example", HTTPTransportError.Kind.offline),
      ("https://news.example:8443/", "news.example:8443", .broken),
    ])
  func unanswered(address: String, server: String, kind: HTTPTransportError.Kind) async throws {
    var requester = requester(Recorder { _ in Self.response(200) })
    requester.transport = Failing(error: HTTPTransportError(kind, "it\nfailed\u{1B}"))
    let url = try #require(URL(string: address))
    var meter = HTTPRequester.Meter()
    let failure = await #expect(throws: FetchError.self) { _ = try await requester.get(url, meter: &meter) }
    #expect(failure?.message == "no response from \(server): it failed")
    #expect(failure?.code == .unreachable)
    #expect(failure?.isOffline == (kind == .offline))
    #expect(failure?.status == nil)
    #expect(meter.requests == (kind == .offline ? 0 : 1))
    for method in ["PUT", "POST"] {
      let failure = await #expect(throws: FetchError.self) { _ = try await send(method, url, requester) }
      #expect(failure?.message == "no response from \(server): it failed", "\(method)")
    }
  }

  @Test("with a content is refused by a transport that sends none, and is no failure of the network")
  func noContent() async throws {
    var requester = requester(Recorder { _ in Self.response(200) })
    requester.transport = Vanishing()
    let url = try #require(URL(string: "https://news.example/v1/devices"))
    var meter = HTTPRequester.Meter()
    let failure = await #expect(throws: FetchError.self) {
      _ = try await requester.send(json: Data("{}".utf8), to: url, method: "PUT", headers: [], meter: &meter)
    }
    #expect(failure?.code == .rejected)
    #expect(failure?.message == "this transport sends no content")
  }

  @Test("whose response breaks off has its status and the cost so far")
  func interrupted() async throws {
    let broken = HTTPTransportResponse(
      status: 200, headers: [],
      body: AsyncThrowingStream<Data, any Error> { continuation in
        continuation.yield(Data(count: 1000))
        continuation.finish(throwing: HTTPTransportError(.broken, "it failed"))
      })
    let url = try #require(URL(string: "https://news.example/"))
    let requester = requester(Recorder { _ in broken })
    var meter = HTTPRequester.Meter()
    let failure = await #expect(throws: FetchError.self) { _ = try await requester.get(url, meter: &meter) }
    #expect(failure?.message == "the response was interrupted: it failed")
    #expect(failure?.code == .unreachable)
    #expect(failure?.status == 200)
    #expect(failure?.isOffline == false)
    #expect((meter.requests, meter.status) == (1, 200))
    #expect(meter.bytes > 1000)
  }
}
