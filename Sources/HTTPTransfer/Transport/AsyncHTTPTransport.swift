import AsyncHTTPClient
public import Foundation
import HTTPConditions
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

/// An HTTP transport over AsyncHTTPClient, with TLS 1.2 or later. The counterpart of `URLSession`.
///
///     let transport = AsyncHTTPTransport(connectTimeout: 5)
///     let response = try await transport.get(URL(string: "https://news.example/v1/state")!, headers: [])
///     print(response.status)
public final class AsyncHTTPTransport: CodedTransport {
  /// A purpose with its own client and connections.
  private struct Purpose: Hashable {
    var proxy: ProxySettings.Proxy?
    /// Whether the content coding is decoded.
    var decodes = true
  }

  private let clients: [Purpose: HTTPClient]
  private let proxies: ProxySettings
  private let maximumBody: Int

  /// Creates a transport with its own connection pool.
  ///
  /// - Parameters:
  ///   - maximumBody: The maximum number of bytes in a decompressed body. A larger body is an error, so that a few
  ///     kilobytes cannot become gigabytes.
  ///   - connectTimeout: The timeout of a connection attempt, in seconds.
  ///   - options: The proxies and the certificate authorities.
  public init(
    maximumBody: Int = 8 << 20, connectTimeout: Int64 = 10, options: ConnectionOptions = ConnectionOptions()
  ) {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.timeout.connect = .seconds(connectTimeout)
    // Older versions of TLS are deprecated (RFC 8996).
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    if let authorities = options.authorities { tls.trustRoots = .certificates(authorities) }
    tls.additionalTrustRoots = options.certificates.isEmpty ? [] : [.certificates(options.certificates)]
    configuration.tlsConfiguration = tls
    // A failure is reported at once. The caller decides about retries, not the pool.
    configuration.connectionPool.retryConnectionEstablishment = false
    proxies = options.proxies
    self.maximumBody = maximumBody
    var clients: [Purpose: HTTPClient] = [:]
    for proxy in [nil] + Set(options.proxies.proxies.values).map(Optional.init) {
      configuration.proxy = proxy.map { HTTPClient.Configuration.Proxy($0) }
      for decodes in [true, false] {
        configuration.decompression = decodes ? .enabled(limit: .size(maximumBody)) : .disabled
        clients[Purpose(proxy: proxy, decodes: decodes)] = HTTPClient(
          eventLoopGroupProvider: .shared(Self.eventLoop), configuration: configuration)
      }
    }
    self.clients = clients
  }

  /// The thread of all transports in this process. One is enough on any machine, because a client waits for one server.
  private static let eventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  deinit {
    // The client stays alive until its connections are closed.
    for client in clients.values { client.shutdown { _ in } }
  }

  /// Sends a GET request; see ``HTTPTransport/get(_:headers:)``.
  public func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
    try await execute(request(url, headers), url)
  }

  package func getCoded(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
    var response = try await execute(request(url, headers), url, decodes: false)
    response.hasCoding = true
    return response
  }

  /// Sends a file; see ``HTTPTransport/upload(_:to:method:headers:)``.
  public func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse {
    var request = request(url, headers, method: method)
    request.body = .stream(FileChunks(file: file), length: .known(file.length))
    return try await execute(request, url)
  }

  /// Sends a short content; see ``HTTPTransport/send(_:to:method:headers:)``.
  public func send(
    _ content: Data, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse {
    var request = request(url, headers, method: method)
    if !content.isEmpty { request.body = .bytes(ByteBuffer(bytes: content)) }
    return try await execute(request, url)
  }

  private func request(_ url: URL, _ headers: [HTTPHeader], method: String = "GET") -> HTTPClientRequest {
    var request = HTTPClientRequest(url: url.absoluteString)
    request.method = HTTPMethod(rawValue: method)
    for header in headers { request.headers.add(name: header.name, value: header.value) }
    return request
  }

  /// - Throws: ``HTTPTransportError``
  private func execute(
    _ request: HTTPClientRequest, _ url: URL, decodes: Bool = true
  ) async throws -> HTTPTransportResponse {
    if let obstacle = url.requestObstacle { throw HTTPTransportError(.refused, "the URL is not valid: \(obstacle)") }
    let proxy = proxies.selected(for: url)
    guard let client = clients[Purpose(proxy: proxy, decodes: decodes)] else {
      throw HTTPTransportError(.refused, "there is no client for the proxy")
    }
    let response: HTTPClientResponse
    do {
      // The caller enforces the deadline by cancelling the task.
      response = try await client.execute(request, deadline: .distantFuture)
    } catch {
      var failure = HTTPTransportError(error)
      if let proxy {
        failure.message += " (through the proxy \(proxy.host):\(proxy.port))"
      } else if failure.message == ConnectionFailure.untrusted, !Task.isCancelled {
        failure.message = await CertificateProbe.reason(url, on: Self.eventLoop) ?? failure.message
      }
      throw failure
    }
    return HTTPTransportResponse(
      status: Int(response.status.code),
      headers: response.headers.map { HTTPHeader($0.name, $0.value.fieldContent) },
      body: AnswerBody(body: response.body, maximumBytes: maximumBody))
  }
}

extension HTTPClient.Configuration.Proxy {
  fileprivate init(_ proxy: ProxySettings.Proxy) {
    if proxy.isSOCKS {
      self = .socksServer(host: proxy.host, port: proxy.port)
    } else if let credentials = proxy.credentials {
      let value = HTTPClient.Authorization.basic(credentials: Data(credentials.utf8).base64EncodedString())
      self = .server(host: proxy.host, port: proxy.port, authorization: value)
    } else {
      self = .server(host: proxy.host, port: proxy.port)
    }
  }
}

/// The body of a response. Its errors are of type ``HTTPTransportError``.
private struct AnswerBody: AsyncSequence, Sendable {
  let body: HTTPClientResponse.Body
  let maximumBytes: Int

  func makeAsyncIterator() -> Iterator { Iterator(iterator: body.makeAsyncIterator(), maximumBytes: maximumBytes) }

  struct Iterator: AsyncIteratorProtocol {
    var iterator: HTTPClientResponse.Body.AsyncIterator
    let maximumBytes: Int

    mutating func next() async throws -> Data? {
      do {
        return try await iterator.next().map { Data($0.readableBytesView) }
      } catch {
        var failure = HTTPTransportError(error)
        if failure.detail == .tooLarge {
          failure.message = "more than \(ByteAmount.limit(Int64(maximumBytes))) unpacked"
        }
        throw failure
      }
    }
  }
}

/// The content of a file in chunks, which are read on demand.
private struct FileChunks: AsyncSequence, Sendable {
  static let size = 256 << 10

  let file: HTTPFile

  func makeAsyncIterator() -> Iterator { Iterator(file: file) }

  struct Iterator: AsyncIteratorProtocol {
    let file: HTTPFile
    private var handle: FileHandle?
    private var sent: Int64 = 0

    init(file: HTTPFile) { self.file = file }

    mutating func next() async throws -> ByteBuffer? {
      if handle == nil {
        handle = try FileHandle(forReadingFrom: file.url)
        try handle?.seek(toOffset: UInt64(file.offset))
      }
      file.progress(sent)
      let chunk = try handle?.read(upToCount: Int(Swift.min(Int64(FileChunks.size), file.length - sent))) ?? Data()
      guard !chunk.isEmpty else {
        try handle?.close()
        return nil
      }
      sent += Int64(chunk.count)
      return ByteBuffer(bytes: chunk)
    }
  }
}

extension HTTPTransportError {
  /// Converts an error of AsyncHTTPClient, NIO or BoringSSL.
  init(_ error: any Error) {
    if let error = error as? HTTPTransportError {
      self = error
    } else if let error = error as? NIOConnectionError, !error.connectionErrors.isEmpty {
      // A host name may have several addresses. A refused connection says more than an unreachable network.
      let failures = error.connectionErrors.map { HTTPTransportError($0.error) }
      self = failures.first { $0.kind == .refused } ?? failures[0]
    } else if error is NIOConnectionError || error is SocketAddressError || error is SocketAddressError.UnknownHost {
      self.init(.offline, "the name cannot be resolved")
    } else {
      self.init(Self.kind(error), ConnectionFailure.reason(error))
      detail = ConnectionFailure.detail(error)
    }
  }

  private static func kind(_ error: any Error) -> Kind {
    switch error {
    case let error as IOError where [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL].contains(error.errnoCode):
      .offline
    case let error as IOError where error.errnoCode == ECONNREFUSED: .refused
    case let error as HTTPClientError
    where [.connectTimeout, .proxyAuthenticationRequired, .invalidProxyResponse].contains(error):
      .refused
    case ChannelError.connectTimeout: .refused
    case let error as HTTPClientError where error == .tlsHandshakeTimeout: .untrusted
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: .untrusted
    default: .broken
    }
  }
}
