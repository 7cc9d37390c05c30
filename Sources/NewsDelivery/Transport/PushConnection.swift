import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A complete response of a push service.
struct PushResponse: Sendable {
  var status: Int
  var headers: HTTPHeaders
  var body: [UInt8]
}

/// The reason why there is no response.
enum PushConnectionError: Error, Equatable {
  /// No connection could be made. Nothing was sent.
  case unreachable(String)
  /// The connection was closed before the service has processed the request.
  case unprocessed
  /// The connection was closed before the response. The service may have received the request.
  case lost
  /// The timeout has passed.
  case timedOut
  /// The task was cancelled.
  case cancelled

  /// The reason in words, for logs.
  var reason: String {
    switch self {
    case .unreachable(let reason): reason
    case .unprocessed: "the service closes connections before it processes a message"
    case .lost: "the connection was lost"
    case .timedOut: "the service did not respond in time"
    case .cancelled: "the server is stopping"
    }
  }
}

/// The connections to a push service, over HTTP/2 where the service offers it.
///
/// AsyncHTTPClient keeps an HTTP/2 connection whose requests time out. A lost route would then silence it for a quarter
/// of an hour, until TCP gives up. Therefore a timeout replaces a client that has received nothing since that request
/// was sent.
final class PushConnection: Sendable {
  private struct State {
    /// nil before the first request.
    var client: HTTPClient?
    var lastResponse = ContinuousClock.now
    var isShutDown = false
    var closing: [Task<Void, Never>] = []
  }

  /// The maximum number of attempts of a request that the service does not process.
  private static let maximumAttempts = 10

  private let makeClient: @Sendable () -> HTTPClient
  private let timeout: Duration
  private let state: Mutex<State>

  /// Creates the connections, which open with the first request. `shutdown()` closes them.
  ///
  /// - Parameters:
  ///   - trustRoots: The authorities that are trusted besides those of the system.
  ///   - connections: The maximum number of connections to a service that speaks HTTP/1.1 only.
  ///   - address: The address that connections to a host are made to.
  ///   - timeout: The timeout of a request, from its queueing to the end of the response.
  init(
    trustRoots: [NIOSSLCertificate], connections: Int = 8, address: (host: String, address: String)? = nil,
    timeout: Duration
  ) {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.timeout.connect = .seconds(10)
    var tls = TLSConfiguration.makeClientConfiguration()
    // Older versions of TLS are deprecated (RFC 8996), and APNs refuses them.
    tls.minimumTLSVersion = .tlsv12
    if !trustRoots.isEmpty { tls.additionalTrustRoots = [.certificates(trustRoots)] }
    configuration.tlsConfiguration = tls
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    // The store keeps the messages. They need not wait for a connection in memory.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.http2ConnectionDebugInitializer = { connection in
      connection.eventLoop.makeCompletedFuture {
        try UnprocessedRequest.observe(connection: connection)
        try WriteCombiner.add(to: connection)
      }
    }
    configuration.http2StreamChannelDebugInitializer = { stream in
      stream.eventLoop.makeCompletedFuture { try UnprocessedRequest.observe(stream: stream) }
    }
    if let address { configuration.dnsOverride = [address.host: address.address] }
    let complete = configuration
    // On one event loop, no step of a request waits for another loop.
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    makeClient = { HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: complete) }
    self.timeout = timeout
    state = Mutex(State())
  }

  /// Sends a POST request and receives the response.
  ///
  /// A request that the service has certainly not processed is sent again over a new connection, at most nine times. One
  /// whose connection was lost may have been processed. Such a loss is followed by one further attempt.
  func post(_ url: String, headers: HTTPHeaders, body: [UInt8]) async throws(PushConnectionError) -> PushResponse {
    let deadline = ContinuousClock.now + timeout
    var (attempts, losses) = (0, 0)
    while true {
      attempts += 1
      do {
        return try await attempt(url, headers: headers, body: body, by: deadline)
      } catch {
        if error == .lost { losses += 1 }
        guard error == .unprocessed || error == .lost, losses < 2, attempts < Self.maximumAttempts,
          ContinuousClock.now + timeout / 4 < deadline
        else { throw error }
      }
      // All requests of a connection are lost at once. A random wait spreads their further attempts.
      try? await Task.sleep(for: .milliseconds(.random(in: 50...250)))
    }
  }

  private func attempt(
    _ url: String, headers: HTTPHeaders, body: [UInt8], by deadline: ContinuousClock.Instant
  ) async throws(PushConnectionError) -> PushResponse {
    let start = ContinuousClock.now
    guard let client = currentClient() else { throw .cancelled }
    do {
      let request = try HTTPClient.Request(
        url: url, method: .POST, headers: headers, body: .byteBuffer(ByteBuffer(bytes: body)))
      let task = client.execute(
        request: request, delegate: ResponseAccumulator(request: request, maxBodySize: 64 << 10),
        deadline: NIODeadline.now() + TimeAmount(start.duration(to: deadline)))
      let response = try await withTaskCancellationHandler {
        try await task.get()
      } onCancel: {
        task.cancel()
      }
      state.withLock { $0.lastResponse = .now }
      return PushResponse(
        status: Int(response.status.code), headers: response.headers,
        body: response.body.map { Array($0.readableBytesView) } ?? [])
    } catch {
      let error = self.error(for: error, of: client)
      // A second attempt may have had no time for a response.
      if error == .timedOut, start + timeout / 2 < .now { replace(client, unlessUsedSince: start) }
      throw error
    }
  }

  /// - Returns: nil after `shutdown()`.
  private func currentClient() -> HTTPClient? {
    state.withLock { state in
      if state.client == nil, !state.isShutDown { state.client = makeClient() }
      return state.client
    }
  }

  private func replace(_ client: HTTPClient, unlessUsedSince start: ContinuousClock.Instant) {
    state.withLock { state in
      guard state.client === client, state.lastResponse < start, !state.isShutDown else { return }
      state.client = nil
      state.closing.append(Self.close(client))
      // Clients that have closed long ago need no further attention.
      if state.closing.count > 8 { state.closing.removeFirst() }
    }
  }

  /// Closes the connections. Requests that have no response fail.
  func shutdown() async {
    let closing = state.withLock { state -> [Task<Void, Never>] in
      defer { (state.isShutDown, state.client) = (true, nil) }
      return state.closing + (state.client.map { [Self.close($0)] } ?? [])
    }
    for task in closing { await task.value }
  }

  private static func close(_ client: HTTPClient) -> Task<Void, Never> {
    Task {
      // The only errors are those of requests under way.
      try? await client.shutdown()
    }
  }

  private func error(for error: any Error, of client: HTTPClient) -> PushConnectionError {
    if Task.isCancelled { return .cancelled }
    // AsyncHTTPClient cancels a request that a connection was given after GOAWAY, and writes nothing. A client that is
    // being replaced cancels requests that it has written.
    if error as? HTTPClientError == .cancelled, state.withLock({ $0.client === client }) { return .unprocessed }
    return Self.error(for: error)
  }

  private static func error(for error: any Error) -> PushConnectionError {
    switch error {
    case is UnprocessedRequest: .unprocessed
    case let error as HTTPClientError: Self.error(for: error)
    case ChannelError.connectTimeout: .unreachable("the connection attempt timed out")
    case NIOSSLError.uncleanShutdown: .lost
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: .unreachable("the TLS handshake failed")
    case is NIOConnectionError: .unreachable("no connection could be made")
    // A connection that was established before ends with these two.
    case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode): .lost
    case is IOError: .unreachable("no connection could be made")
    default: .lost
    }
  }

  private static func error(for error: HTTPClientError) -> PushConnectionError {
    switch error {
    case .deadlineExceeded, .readTimeout: .timedOut
    case .connectTimeout, .getConnectionFromPoolTimeout: .unreachable("the connection attempt timed out")
    case .tlsHandshakeTimeout: .unreachable("the TLS handshake timed out")
    case .invalidURL, .emptyHost, .emptyScheme: .unreachable("the address is not valid")
    default: .lost
    }
  }
}
