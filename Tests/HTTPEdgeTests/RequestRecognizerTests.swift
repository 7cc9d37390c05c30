import Foundation
import HTTPEdge
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NetworkAddresses
import Synchronization
import TestKit
import Testing

@Suite struct RequestRecognizerTests {
  private static func request(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n" }

  @Test(
    "All input has the same responses with and without recognition, however it is divided",
    arguments: slice(of: 0..<4 as Range<UInt64>))
  func sameResponses(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let responders = [Responder(), Responder()]
    for _ in 0..<1500 {
      let bytes = Self.connection(&random)
      // Divided nowhere, at every byte, or at random.
      let step = [bytes.count, 1, Int.random(in: 1...40, using: &random)].randomElement(using: &random) ?? 1
      var results: [Outcome] = []
      for (responder, recognizes) in zip(responders, [true, false]) {
        results.append(try Self.outcome(bytes, step, TestConnection(responder, recognizes: recognizes)))
      }
      #expect(results[0] == results[1], "\(String(decoding: bytes, as: UTF8.self).debugDescription) by \(step)")
    }
    #expect(responders[0].recognized > 250)
    #expect(responders[1].recognized == 0)
  }

  /// The bytes that a client has received, and the targets that the router has.
  private struct Outcome: Equatable {
    var sent: String
    var routed: [String]
  }

  private static func outcome(_ bytes: [UInt8], _ step: Int, _ connection: TestConnection) throws -> Outcome {
    var routed: [String] = []
    for start in stride(from: 0, to: bytes.count, by: max(1, step)) {
      try connection.receive(bytes[start..<min(bytes.count, start + step)])
      // The router answers at once, but after the bytes of one read.
      for target in try connection.routed() {
        routed.append(target)
        try? connection.respond()
      }
    }
    let sent = try connection.sent().components(separatedBy: "\r\n").filter { !$0.hasPrefix("Date: ") }
    return Outcome(sent: sent.joined(separator: "\n"), routed: routed)
  }

  /// Returns the bytes of a connection: requests that are answered early, others, and some with bodies or errors.
  private static func connection(_ random: inout SplitMix64) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3: bytes += request("/stored?\(Int.random(in: 0..<9, using: &random))").utf8
      case 4: bytes += request("/routed").utf8
      case 5:
        let body = request("/stored?body")
        bytes += "POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8
      case 6:
        let body = request("/stored?chunk")
        bytes +=
          """
          POST /chunked HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
          \(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n
          """.utf8
      case 7: bytes += "GET /header HTTP/1.1\r\nHost: a\r\nX: ".utf8
      default: bytes += RequestGrammarTests.mutated(&random)
      }
    }
    return bytes
  }

  @Test("Bytes that look like a request are not one in the middle of a header or a body", arguments: [1, 7, 1000])
  func smuggling(step: Int) throws {
    let inner = Self.request("/stored")
    let outer = [
      ("GET /header HTTP/1.1\r\nX: ", inner, "/header"),
      ("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: \(inner.utf8.count)\r\n\r\n", inner, "/body"),
    ]
    for (start, rest, target) in outer {
      let responder = Responder()
      let connection = try TestConnection(responder)
      try connection.receive(start)
      let bytes = Array(rest.utf8)
      for place in stride(from: 0, to: bytes.count, by: step) {
        try connection.receive(bytes[place..<min(bytes.count, place + step)])
      }
      #expect(try connection.routed() == [target])
      #expect(try connection.sent().isEmpty)
      #expect(responder.recognized == 0)
    }
  }

  @Test("A connection returns to recognition after a request that came in parts, or that the router has answered")
  func returns() throws {
    let responder = Responder()
    let connection = try TestConnection(responder)
    try connection.receive(Self.request("/stored"))
    #expect(responder.recognized == 1)
    try connection.receive("GET /stored HTTP/1.1\r\nHo")
    try connection.receive("st: a\r\n\r\n")
    #expect(responder.recognized == 1)
    try connection.receive(Self.request("/stored"))
    #expect(responder.recognized == 2)
    try connection.receive(Self.request("/routed") + Self.request("/stored"))
    #expect(try connection.routed() == ["/routed", "/stored"])
    // Two responses are pending.
    try connection.receive(Self.request("/stored"))
    #expect(try connection.routed() == ["/stored"])
    #expect(responder.recognized == 2)
    for _ in 0..<3 { try connection.respond() }
    try connection.receive(Self.request("/stored") + Self.request("/stored"))
    #expect(responder.recognized == 4)
    #expect(try connection.sent().components(separatedBy: "HTTP/1.1 200 OK").count == 9)
  }

  @Test("No response is made for a client that does not read the earlier ones, and nothing more is read from it")
  func backpressure() throws {
    let responder = Responder()
    let connection = try TestConnection(responder)
    connection.channel.isWritable = false
    try connection.receive(String(repeating: Self.request("/stored"), count: 3))
    #expect(responder.recognized == 0)
    #expect(try connection.sent().isEmpty)
    connection.channel.read()
    #expect(connection.reads == 0)
    connection.channel.isWritable = true
    connection.channel.pipeline.fireChannelWritabilityChanged()
    connection.channel.embeddedEventLoop.run()
    #expect(responder.recognized == 3)
    #expect(try connection.sent().components(separatedBy: "HTTP/1.1 200 OK").count == 4)
    #expect(connection.reads >= 1)

    // The end of the input comes after the input.
    connection.channel.isWritable = false
    try connection.receive(Self.request("/stored") + Self.request("/routed"))
    connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(try connection.routed() == ["/routed"])
    #expect(try connection.sent().hasSuffix("\r\n\r\n/stored"))
  }

  @Test("A repeated response is sent again without the responder, until its state changes or the second is over")
  func repeated() async throws {
    let responder = Responder()
    let connection = try TestConnection(responder)
    func receive() throws -> String {
      try connection.receive(Self.request("/stored"))
      return try connection.sent()
    }
    // A second may end at any time.
    while responder.repeated == 0 { #expect(try receive().hasSuffix("\r\n\r\n/stored")) }
    responder.change()
    for _ in 0..<5 { #expect(try receive().hasSuffix("\r\n\r\n/stored after 1")) }
    while responder.repeated == responder.recognized { _ = try receive() }
    let (before, asked) = (responder.repeated, responder.recognized - responder.repeated)
    let end = ContinuousClock.now + .milliseconds(1100)
    while .now < end {
      let text = try receive()
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 15\r\nDate: "))
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(responder.repeated > before)
    #expect(responder.recognized - responder.repeated > asked)
  }

  @Test("A request beyond the rate limit of its address is refused, also that of a proxy's client")
  func limits() throws {
    let proxies = try TrustedProxies([IPNetwork("10.0.0.0/8")].map { try #require($0) })
    let limits = AddressLimits(RequestRate(perMinute: 3), proxies: proxies, unlimitedPaths: []) { _ in }
    let client = limits.client(of: IPAddress("10.0.0.1"))
    for recognizes in [true, false] {
      let responder = Responder()
      let connection = try TestConnection(responder, client: client, limits: limits, recognizes: recognizes)
      let address = recognizes ? "192.0.2.1" : "192.0.2.2"
      func receive(_ address: String) throws -> String {
        try connection.receive("GET /stored HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 8.8.8.8, \(address)\r\n\r\n")
        return try connection.sent()
      }
      for _ in 0..<3 { #expect(try receive(address).hasPrefix("HTTP/1.1 200 OK")) }
      // Another client of the proxy is not affected.
      #expect(try receive("192.0.2.\(recognizes ? 3 : 4)").hasPrefix("HTTP/1.1 200 OK"))
      #expect(responder.recognized == (recognizes ? 4 : 0))
      #expect(try receive(address).contains("tooManyRequests"))
    }
  }
}

/// Answers all requests for `/stored` with their target.
private final class Responder: EarlyResponder {
  private let count = Atomic(0)
  private let repetitions = Atomic(0)
  private let state = Atomic(0)

  /// The number of requests that were answered before the decoder.
  var recognized: Int { count.load(ordering: .relaxed) }

  /// The number of requests for which the responder was not asked again.
  var repeated: Int { repetitions.load(ordering: .relaxed) }

  var generation: Int { state.load(ordering: .acquiring) }

  /// Changes all responses from now on.
  func change() { state.add(1, ordering: .releasing) }

  func lookUp(_ request: PlainRequest, isNew: Bool) -> EarlyLookup? {
    guard request.target.hasPrefix("/stored") else { return nil }
    var text = request.target
    for condition in [request.ifNoneMatch, request.ifModifiedSince, request.acceptEncoding] {
      if let condition { text += " \(condition)" }
    }
    if generation > 0 { text += " after \(generation)" }
    let response = StoredResponse(
      status: .ok, fields: [.contentLength: "\(text.utf8.count)"], body: ByteBuffer(string: text))
    return .response(
      EarlyResponse(response) { [self] isRepeated in
        if isNew { count.add(1, ordering: .relaxed) }
        if isRepeated { repetitions.add(1, ordering: .relaxed) }
      })
  }
  func deferral(of head: HTTPRequestHead) -> EarlyDeferral? { nil }
  func beginShutdown() {}
}
