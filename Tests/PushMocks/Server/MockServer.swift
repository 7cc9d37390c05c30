import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization
import TestKit

#if canImport(Glibc)
  import Glibc
#endif

/// A server on loopback with TLS, over HTTP/2 and perhaps HTTP/1.1 as the client chooses by ALPN (RFC 7301).
final class MockServer: Sendable {
  private struct State {
    var listener: (any Channel)?
    var channels: [Int: any Channel] = [:]
    /// Whether connections are closed as soon as they are accepted.
    var isClosing = false
    var port: Int
    /// A socket that keeps the port during an outage, because another process could take it. Connections to it are refused.
    var placeholder: Int32?
  }

  let faults = MockFaults()
  let record: MockRecord
  /// Receives each message and each refused request, for logs.
  let observer: (@Sendable (MockEvent) -> Void)?

  private let service: any MockService
  private let context: NIOSSLContext
  private let state: Mutex<State>

  /// The port on loopback, which stays the same after an outage.
  var port: Int { state.withLock { $0.port } }

  /// Starts a server.
  ///
  /// - Parameter port: The port; 0 for a free one.
  init(
    _ service: any MockService, certificates: MockCertificates, port: Int, keepsMessages: Bool,
    observer: (@Sendable (MockEvent) -> Void)?
  ) async throws {
    self.service = service
    self.observer = observer
    record = MockRecord(keepsMessages: keepsMessages)
    state = Mutex(State(port: port))
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificates.chain.map { .certificate($0) }, privateKey: .privateKey(certificates.key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.shutdownTimeout = .milliseconds(100)
    configuration.applicationProtocols = service.protocols
    context = try NIOSSLContext(configuration: configuration)
    try await comeBack()
  }

  deinit {
    if let placeholder = state.withLock({ $0.placeholder }) { close(placeholder) }
  }

  /// Listens again after an outage.
  func comeBack() async throws {
    state.withLock { $0.isClosing = false }
    if state.withLock({ $0.listener != nil }) { return }
    let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.backlog, value: 1024)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in self.open(channel) }
    let placeholder = state.withLock { state -> Int32? in
      defer { state.placeholder = nil }
      return state.placeholder
    }
    let listener =
      if let placeholder {
        try await bootstrap.withBoundSocket(placeholder).get()
      } else {
        try await bootstrap.bind(host: "127.0.0.1", port: port).get()
      }
    state.withLock { $0 = State(listener: listener, channels: $0.channels, port: listener.localAddress?.port ?? 0) }
  }

  /// Begins an outage: closes all connections, and refuses new ones or closes them at once.
  func goDown(_ outage: PushOutage) async {
    let (listener, channels) = state.withLock { state -> ((any Channel)?, [any Channel]) in
      defer { state.channels = [:] }
      state.isClosing = true
      guard outage == .refused else { return (nil, Array(state.channels.values)) }
      defer { state.listener = nil }
      return (state.listener, Array(state.channels.values))
    }
    if let listener {
      try? await listener.close()
      state.withLock { $0.placeholder = try? Loopback.bind(to: $0.port) }
    }
    for channel in channels { channel.close(promise: nil) }
    for channel in channels { try? await channel.closeFuture.get() }
  }

  private func open(_ channel: any Channel) -> EventLoopFuture<Void> {
    let number = record.connect()
    let isAdmitted = state.withLock { state in
      if !state.isClosing { state.channels[number] = channel }
      return !state.isClosing
    }
    guard isAdmitted else { return channel.close() }
    channel.closeFuture.whenComplete { _ in self.state.withLock { $0.channels[number] = nil } }
    return channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: self.context))
    }.flatMap {
      channel.configureHTTP2SecureUpgrade(
        h2ChannelConfigurator: { self.configureHTTP2($0, number: number) },
        http1ChannelConfigurator: { self.configureHTTP1($0, number: number) })
    }
  }

  private func configureHTTP1(_ channel: any Channel, number: Int) -> EventLoopFuture<Void> {
    // A client that knows no HTTP/2 is of no use to a service that offers nothing else.
    guard service.protocols.contains("http/1.1") else { return channel.close() }
    return channel.eventLoop.makeCompletedFuture {
      let sync = channel.pipeline.syncOperations
      try sync.configureHTTPServerPipeline(withErrorHandling: true)
      try sync.addHandler(MockExchange(self, MockConnection(channel, number: number, faults: self.faults)))
    }
  }

  private func configureHTTP2(_ channel: any Channel, number: Int) -> EventLoopFuture<Void> {
    record.noteHTTP2()
    var connection = NIOHTTP2Handler.ConnectionConfiguration()
    connection.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: service.maximumStreams),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
    ]
    connection.targetWindowSize = 1 << 20
    var stream = NIOHTTP2Handler.StreamConfiguration()
    stream.targetWindowSize = 1 << 20
    // A client may give up on many messages at once.
    stream.streamResetFrameRateLimit.maximumCount = 100_000
    stream.streamErrorRateLimit.maximumCount = 100_000
    connection.maximumRecentlyResetStreams = 10_000
    let shared = NIOLoopBound(
      MockConnection(channel, number: number, faults: faults), eventLoop: channel.eventLoop)
    return channel.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: connection, streamConfiguration: stream
    ) { stream in
      stream.getOption(HTTP2StreamChannelOptions.streamID).flatMapThrowing { id in
        let sync = stream.pipeline.syncOperations
        try sync.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
        try sync.addHandler(MockExchange(self, shared.value, stream: id))
      }
    }.flatMapThrowing { _ in
      try channel.pipeline.syncOperations.addHandler(MockErrors())
    }
  }

  func judgement(of request: MockRequest) -> MockJudgement { service.judgement(of: request) }

  /// Checks a request without recording it.
  ///
  /// - Returns: The status of the response, and the rule that the request breaks; nil for none.
  func trial(path: String, headers: HTTPHeaders, body: [UInt8]) -> (status: Int, rule: String?) {
    let request = MockRequest(method: .POST, path: path, headers: headers, body: body, connection: 0)
    switch judgement(of: request) {
    case .accepted(_, let response), .other(_, let response, _): return (response.status, nil)
    case .refused(let rule, let response): return (response.status, rule)
    }
  }
}

/// The way in which a mock is down.
public enum PushOutage: Sendable {
  /// Connections are refused.
  case refused
  /// Connections are closed before the TLS handshake.
  case closed
}

/// An event at a mock, for logs.
public enum MockEvent: Sendable {
  case accepted(ReceivedMessage)
  /// A fault has replaced the response to a message.
  case faulted(ReceivedMessage, MockFault)
  /// A request broke a rule.
  case refused(rule: String, status: Int)
}
