import HTTPEdge
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@Suite struct EarlyResponseTests {
  private static func request(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n" }

  @Test("A response from memory is sent in order, and its request does not reach the router")
  func stored() throws {
    let connection = try TestConnection(Responder())
    try connection.receive(Self.request("/stored"))
    #expect(try connection.routed().isEmpty)
    let text = try connection.sent()
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 6\r\nDate: "))
    #expect(text.hasSuffix("\r\n\r\nstored"))
    // An earlier request waits for its response, so the router answers both.
    try connection.receive(Self.request("/") + Self.request("/stored"))
    #expect(try connection.routed() == ["/", "/stored"])
    #expect(try connection.sent().isEmpty)
  }

  @Test("All input after a held request waits, and nothing more is read")
  func wait() throws {
    let responder = Responder()
    let connection = try TestConnection(responder)
    try connection.receive(Self.request("/wait") + Self.request("/stored") + Self.request("/next"))
    #expect(try connection.routed().isEmpty)
    #expect(try connection.sent().isEmpty)
    connection.channel.read()
    #expect(connection.reads == 0)
    responder.release()
    #expect(connection.reads == 1)
    #expect(try connection.routed() == ["/wait", "/stored", "/next"])
    #expect(responder.cancelled == 1)
  }

  @Test("A malformed message after a held request is refused after its response")
  func malformedBehindWait() throws {
    let responder = Responder()
    let connection = try TestConnection(responder)
    try connection.receive(Self.request("/wait") + "nonsense\r\n\r\n")
    #expect(try connection.sent().isEmpty)
    responder.release()
    #expect(try connection.routed() == ["/wait"])
    #expect(try connection.sent().isEmpty)
    try connection.respond()
    let text = try connection.sent()
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(text.contains("HTTP/1.1 400 Bad Request\r\n"))
  }

  @Test("A wait ends when the client half-closes, when the server shuts down, and with the connection")
  func ends() throws {
    for event in [ChannelEvent.inputClosed as any Sendable, ChannelShouldQuiesceEvent()] {
      let responder = Responder()
      let connection = try TestConnection(responder)
      try connection.receive(Self.request("/wait"))
      connection.channel.pipeline.fireUserInboundEventTriggered(event)
      #expect(try connection.routed() == ["/wait"])
      #expect(responder.shutdowns == (event is ChannelShouldQuiesceEvent ? 1 : 0))
    }
    let responder = Responder()
    let connection = try TestConnection(responder)
    try connection.receive(Self.request("/wait"))
    connection.channel.pipeline.fireChannelInactive()
    #expect(responder.cancelled == 1)
  }

  @Test("No request is held once the server shuts down")
  func shutdown() throws {
    for path in ["/wait", "/stream"] {
      let connection = try TestConnection(Responder())
      connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      try connection.receive(Self.request(path))
      #expect(try connection.routed() == [path])
    }
  }

  @Test("The next response of a connection is its last one once the server shuts down, also if it is in memory")
  func lastResponse() throws {
    for path in ["/next", "/stored", "/load"] {
      let connection = try TestConnection(Responder())
      connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      try connection.receive(Self.request(path) + Self.request("/never"))
      #expect(try connection.routed() == [path])
      try connection.respond()
      #expect(try connection.sent().contains("Connection: close\r\n"))
    }
    // The request has begun before.
    let connection = try TestConnection(Responder())
    try connection.receive(Self.request("/next"))
    connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    try connection.respond()
    try connection.receive(Self.request("/never"))
    #expect(try connection.sent().contains("Connection: close\r\n"))
    #expect(try connection.routed() == ["/next"])
  }

  @Test("A response that was loaded is sent without the router, and the input behind its request is processed")
  func loaded() throws {
    let responder = Responder()
    let connection = try TestConnection(responder)
    try connection.receive(Self.request("/load") + Self.request("/stored") + Self.request("/next"))
    #expect(try connection.sent().isEmpty)
    #expect(responder.lookups == ["/load"], "memory is looked at once, also by the decoder")
    responder.release(with: Responder.response("loaded"))
    let text = try connection.sent()
    #expect(text.contains("\r\n\r\nloaded"))
    #expect(text.hasSuffix("\r\n\r\nstored"))
    #expect(try connection.routed() == ["/next"])
  }

  @Test("A request whose response could not be loaded is passed on, and is not loaded again")
  func notLoaded() throws {
    let responder = Responder()
    let connection = try TestConnection(responder)
    try connection.receive(Self.request("/load"))
    responder.release()
    #expect(try connection.routed() == ["/load"])
    #expect(try connection.sent().isEmpty)
  }

  @Test("A request behind one that the router has is not loaded")
  func loadBehindRouter() throws {
    let connection = try TestConnection(Responder())
    try connection.receive(Self.request("/next") + Self.request("/load"))
    #expect(try connection.routed() == ["/next", "/load"])
  }

  @Test("A wait that ends late answers no later request of the connection")
  func lateRelease() throws {
    let responder = Responder()
    let connection = try TestConnection(responder)
    try connection.receive(Self.request("/load"))
    responder.release(with: Responder.response("first"))
    #expect(try connection.sent().hasSuffix("first"))
    try connection.receive(Self.request("/load"))
    responder.release(0, with: Responder.response("late"))
    #expect(try connection.sent().isEmpty)
    responder.release(1, with: Responder.response("second"))
    #expect(try connection.sent().hasSuffix("second"))
    try connection.receive(Self.request("/wait"))
    connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(try connection.routed() == ["/wait"])
    responder.release(with: Responder.response("late"))
    #expect(try connection.sent().isEmpty)
  }

  @Test("A stream begins after the previous responses, and ends its connection")
  func stream() throws {
    let responder = Responder()
    let connection = try TestConnection(responder)
    try connection.receive(Self.request("/") + Self.request("/stream") + Self.request("/never"))
    #expect(try connection.routed() == ["/"])
    #expect(responder.stream.opened == 0)
    try connection.respond()
    #expect(responder.stream.opened == 1)
    #expect(try connection.sent().contains("Connection: close\r\n"))
    responder.stream.connection?.send(ByteBuffer(string: "more"))
    #expect(try connection.sent().contains("more"))
    connection.channel.read()
    #expect(connection.reads == 0)
    connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(try connection.sent().contains("last"))
    #expect(responder.stream.closed == 1)
    #expect(try connection.routed().isEmpty)
    #expect(throws: ChannelError.outputClosed) { try connection.respond() }
  }

  @Test("A request for a stream that cannot begin is passed to the router, with all input after it")
  func noStream() throws {
    let responder = Responder()
    responder.stream.canOpen = false
    let connection = try TestConnection(responder)
    try connection.receive(Self.request("/stream") + Self.request("/next"))
    #expect(try connection.routed() == ["/stream", "/next"])
    for _ in 0..<2 { try connection.respond() }
    #expect(try !connection.sent().contains("close"))
    #expect(responder.stream.closed == 0)
  }

  @Test("A stream is closed once when its connection is lost")
  func lostStream() throws {
    let responder = Responder()
    let connection = try TestConnection(responder)
    try connection.receive(Self.request("/stream"))
    #expect(responder.stream.opened == 1)
    _ = try? connection.channel.finish()
    #expect(responder.stream.closed == 1)
  }
}

/// Answers `/stored` from memory, loads `/load`, holds it and `/wait` until they are released, and streams `/stream`.
private final class Responder: EarlyResponder {
  private struct State {
    var releases: [@Sendable (StoredResponse?) -> Void] = []
    var cancelled = 0
    var shutdowns = 0
    var lookups: [String] = []
  }

  private let state = Mutex(State())
  // Only the embedded event loop of the test uses it, on one thread.
  nonisolated(unsafe) let stream = Stream()

  var cancelled: Int { state.withLock { $0.cancelled } }
  var shutdowns: Int { state.withLock { $0.shutdowns } }
  /// The targets for which memory was looked at.
  var lookups: [String] { state.withLock { $0.lookups } }

  /// Releases the request that was held last, or the one with a number.
  func release(_ number: Int? = nil, with response: StoredResponse? = nil) {
    let releases = state.withLock { $0.releases }
    releases[number ?? releases.count - 1](response)
  }

  static func response(_ text: String) -> StoredResponse {
    StoredResponse(status: .ok, fields: [.contentLength: "\(text.utf8.count)"], body: ByteBuffer(string: text))
  }

  var generation: Int { 0 }

  func lookUp(_ request: PlainRequest, isNew: Bool) -> EarlyLookup? {
    state.withLock { $0.lookups.append(request.target) }
    return switch request.target {
    case "/stored": .response(EarlyResponse(Self.response("stored")))
    case "/load": .load { _, _, _ in Wait(responder: self) }
    default: nil
    }
  }

  func deferral(of head: HTTPRequestHead) -> EarlyDeferral? {
    switch head.uri {
    case "/wait": .wait(Wait(responder: self))
    case "/stream": .stream(stream)
    default: nil
    }
  }

  func beginShutdown() { state.withLock { $0.shutdowns += 1 } }

  private struct Wait: EarlyWait {
    let responder: Responder

    func start(
      on eventLoop: any EventLoop, release: @escaping @Sendable (StoredResponse?) -> Void
    ) -> (@Sendable () -> Void)? {
      responder.state.withLock { $0.releases.append(release) }
      return { [responder] in responder.state.withLock { $0.cancelled += 1 } }
    }
  }

  final class Stream: StreamedResponse {
    var canOpen = true
    var opened = 0
    var closed = 0
    var connection: ResponseStream?

    func open(_ connection: ResponseStream) -> Bool {
      guard canOpen else { return false }
      opened += 1
      self.connection = connection
      connection.begin([.contentType: "text/plain"])
      connection.send(ByteBuffer(string: "first"))
      return true
    }

    func becomeWritable() {}

    func end() {
      connection?.send(ByteBuffer(string: "last"))
      connection?.end()
    }

    func close() { closed += 1 }
  }
}
