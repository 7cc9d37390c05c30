public import Foundation
public import HTTPTypes
import NIOCore
import NIOPosix
package import NIOSSL

/// The limits of a request.
public struct OutgoingLimits: Sendable {
  /// The maximum size of the body in bytes, after its content coding is decoded.
  public var bodyBytes = 16 << 20
  /// The maximum size of all header fields in bytes.
  public var headerBytes = 64 << 10
  /// The timeout of the whole request, name resolution and redirects included.
  public var totalTime: Duration = .seconds(60)
  /// The timeout of an attempt to connect.
  public var connectTime: Duration = .seconds(10)
  /// The timeout of a pause in the response.
  public var idleTime: Duration = .seconds(20)
  /// The maximum number of redirects; 0 to return a redirect like any other response.
  public var redirects = 5
  /// Whether only the status and the fields of a response count. A body that is too large, slow or malformed then ends
  /// the response where it is, and is no error.
  public var ignoresBody = false

  /// Creates limits with default values.
  public init() {}
}

/// A request to an address that comes from outside.
public struct OutgoingRequest: Sendable {
  /// The method, GET by default.
  public var method: HTTPRequest.Method
  /// The address.
  public var url: OutgoingURL
  /// The fields, without `Host`, `User-Agent`, `Accept-Encoding`, `Content-Length` and `Connection`.
  public var fields: HTTPFields
  /// The body; nil for none.
  public var body: [UInt8]?

  /// Creates a request.
  public init(
    method: HTTPRequest.Method = .get, url: OutgoingURL, fields: HTTPFields = [:], body: [UInt8]? = nil
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
  }
}

/// A complete response.
public struct OutgoingResponse: Sendable {
  /// The status code.
  public var status: Int
  /// The header fields.
  public var fields: HTTPFields
  /// The body without content coding.
  public var body: [UInt8]
  /// The address that has answered, after redirects.
  public var url: OutgoingURL
  /// The address that permanent redirects (301, 308) from the requested one lead to; nil if there were none. A redirect
  /// after a temporary one does not count.
  public var movedTo: OutgoingURL?
}

/// Sends requests to addresses that come from outside.
///
/// Each name is resolved once per connection, its addresses are checked, and the connection is made to a checked
/// address. A name that resolves differently at the next look-up (DNS rebinding) has no effect. Redirects are followed
/// one by one with the same checks.
///
///     let client = OutgoingClient(policy: AddressPolicy(), userAgent: "Tidings/1.0 (+https://news.example)")
///     let response = try await client.send(OutgoingRequest(url: OutgoingURL("https://feeds.example/news")))
///     print(response.status, response.body.count)
///     await client.shutdown()
public final class OutgoingClient: Sendable {
  private let policy: AddressPolicy
  private let userAgent: String
  private let limits: OutgoingLimits
  private let resolver: NameResolver
  private let decoding = NIOThreadPool(numberOfThreads: 2)
  private let tls: Result<NIOSSLContext, any Error>

  /// Creates a client. `shutdown()` ends its threads.
  ///
  /// - Parameters:
  ///   - policy: The addresses that requests may reach.
  ///   - userAgent: The value of `User-Agent`, with a contact.
  ///   - limits: The limits of each request.
  public convenience init(policy: AddressPolicy, userAgent: String, limits: OutgoingLimits = OutgoingLimits()) {
    self.init(
      policy: policy, userAgent: userAgent, limits: limits, resolver: NameResolver(), tls: .makeClientConfiguration())
  }

  /// Creates a client that resolves names, and verifies certificates, as a test needs.
  package init(
    policy: AddressPolicy, userAgent: String, limits: OutgoingLimits = OutgoingLimits(), resolver: NameResolver,
    tls: TLSConfiguration = .makeClientConfiguration()
  ) {
    var tls = tls
    // Older versions of TLS are deprecated (RFC 8996).
    tls.minimumTLSVersion = .tlsv12
    self.policy = policy
    self.userAgent = userAgent
    self.limits = limits
    self.resolver = resolver
    self.tls = Result { [tls] in try NIOSSLContext(configuration: tls) }
    decoding.start()
  }

  /// Ends the threads. No request may follow.
  public func shutdown() async {
    await resolver.shutdown()
    try? await decoding.shutdownGracefully()
  }

  /// Sends a request and follows its redirects, with the cookies that these set. A method other than GET follows only
  /// redirects that keep it (307 and 308).
  ///
  /// - Parameters:
  ///   - now: The time by which cookies expire.
  ///   - refresh: Returns the address to which a page with the status 200 leads on. It is followed like a temporary
  ///     redirect; nil to return the page.
  /// - Throws: `OutgoingError`; `CancellationError`; the errors of `refresh`.
  public func send(
    _ request: OutgoingRequest, at now: Date = Date(),
    refresh: (@Sendable (OutgoingResponse) async throws -> String?)? = nil
  ) async throws -> OutgoingResponse {
    let deadline = ContinuousClock.now + limits.totalTime
    var request = request
    var movedTo: OutgoingURL?
    var isPermanent = true
    var cookies = ChainCookies()
    for _ in 0...limits.redirects {
      var response = try await exchange(request, by: deadline)
      response.movedTo = movedTo
      let location =
        response.status == 200 ? try await refresh?(response) : response.fields[.location].map(OutgoingURL.repaired)
      guard limits.redirects > 0, let location, Self.redirects(response.status, request.method) else {
        return response
      }
      let target = try OutgoingURL(location, relativeTo: request.url)
      // A page that loads itself again leads nowhere.
      if response.status == 200, target == request.url { return response }
      cookies.note(response, at: now)
      isPermanent = isPermanent && [301, 308].contains(response.status)
      if isPermanent { movedTo = target }
      if target.authority != request.url.authority || target.isSecure != request.url.isSecure {
        // Credentials are for the origin that the caller has named.
        request.fields[.authorization] = nil
      }
      request.fields[.cookie] = nil
      // A subscript would split the value into several fields, which HTTP/1.1 does not have (RFC 6265 section 5.4).
      if let field = cookies.field(for: target) { request.fields.append(HTTPField(name: .cookie, value: field)) }
      request.url = target
    }
    throw OutgoingError.tooManyRedirects(limits.redirects)
  }

  private static func redirects(_ status: Int, _ method: HTTPRequest.Method) -> Bool {
    switch status {
    case 200, 301, 302, 303: method == .get
    case 307, 308: true
    default: false
    }
  }

  /// Sends a request to one of the checked addresses of its host.
  private func exchange(_ request: OutgoingRequest, by deadline: ContinuousClock.Instant) async throws
    -> OutgoingResponse
  {
    let channel = try await connect(to: request.url, by: deadline)
    let response = try await withTaskCancellationHandler {
      let exchange = OutgoingExchange(request: request, userAgent: userAgent, limits: limits, deadline: deadline)
      return try await exchange.run(on: channel, tls: request.url.isSecure ? try tls.get() : nil)
    } onCancel: {
      // Closing waits for the end of a TLS handshake.
      channel.pipeline.fireUserInboundEventTriggered(OutgoingExchange.Cancellation())
      channel.close(promise: nil)
    }
    return limits.ignoresBody ? response : try await decoded(response)
  }

  /// Returns a response without content coding. Decoding takes long, so that it has threads of its own.
  private func decoded(_ response: OutgoingResponse) async throws -> OutgoingResponse {
    let decoder = BodyDecoder(
      host: response.url.host, limit: limits.bodyBytes, fields: response.fields[values: .contentEncoding])
    guard decoder.isNeeded(for: response.body) else { return response }
    var decoded = response
    decoded.body = try await decoding.runIfActive { try decoder.decoded(response.body) }
    return decoded
  }

  /// The event loop of all clients. It decompresses what other servers send, for which no connection of the own server
  /// is to wait. It lives as long as the process.
  private static let eventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  private func connect(to url: OutgoingURL, by deadline: ContinuousClock.Instant) async throws -> any Channel {
    let addresses = try await resolver.addresses(of: url, by: deadline)
    var failure = OutgoingError.unresolved("the name \(url.host) has no address")
    // Refused addresses are skipped. The reason is reported only if none is left.
    for address in addresses.prefix(8) {
      do {
        try policy.check(address, of: url)
      } catch {
        failure = error
        continue
      }
      let time = min(limits.connectTime, ContinuousClock.now.duration(to: deadline))
      guard time > .zero else { throw OutgoingError.timedOut("\(url.host) did not respond in time") }
      try Task.checkCancellation()
      do {
        return try await ClientBootstrap(group: Self.eventLoop)
          .connectTimeout(TimeAmount(time))
          // The exchange adds its handlers before anything is read.
          .channelOption(.autoRead, value: false)
          // A compressed body may grow a thousandfold. Between two pieces, other exchanges have their turn.
          .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4096))
          .channelOption(.maxMessagesPerRead, value: 1)
          .connect(to: address).get()
      } catch {
        failure = .unreachable("\(url.host) cannot be reached on port \(url.port)")
      }
    }
    throw failure
  }
}
