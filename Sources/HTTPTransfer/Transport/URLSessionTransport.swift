#if canImport(Darwin)
  public import Foundation
  import HTTPConditions
  import Synchronization

  /// An HTTP transport over `URLSession`, for apps on Apple platforms: it follows the proxies, the certificates and the
  /// network rules of the system. An app passes it to its client, as the argument `transport`.
  public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let exchanges: Exchanges

    /// Creates a transport with its own session.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the session, such as `waitsForConnectivity`. Cache, cookies and redirects are
    ///     turned off, because the layers above handle them, and TLS 1.2 is the minimum.
    ///   - maximumBody: The maximum number of bytes in a decompressed body. A larger body is an error.
    public init(configuration: URLSessionConfiguration = .ephemeral, maximumBody: Int = 8 << 20) {
      configuration.urlCache = nil
      configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
      configuration.httpCookieStorage = nil
      configuration.httpShouldSetCookies = false
      configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
      exchanges = Exchanges(maximumBody: maximumBody)
      session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends a GET request; see ``HTTPTransport/get(_:headers:)``.
    public func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      try await execute(session.dataTask(with: request("GET", url, headers)))
    }

    /// Sends a file; see ``HTTPTransport/upload(_:to:method:headers:)``.
    public func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse {
      let request = request(method, url, headers)
      // A mapped file needs no memory of its own.
      let content = try Data(contentsOf: file.url, options: .mappedIfSafe)
      let end = file.offset + file.length
      guard Int64(content.count) >= end else { throw HTTPTransportError(.broken, "the file has become shorter") }
      let part = content[Int(file.offset)..<Int(end)]
      return try await execute(session.uploadTask(with: request, from: part), progress: file.progress)
    }

    /// Sends a short content; see ``HTTPTransport/send(_:to:method:headers:)``.
    public func send(
      _ content: Data, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse {
      let request = request(method, url, headers)
      if content.isEmpty { return try await execute(session.dataTask(with: request)) }
      return try await execute(session.uploadTask(with: request, from: content))
    }

    private func request(_ method: String, _ url: URL, _ headers: [HTTPHeader]) -> URLRequest {
      var request = URLRequest(url: url)
      request.httpMethod = method
      for header in headers { request.addValue(header.value, forHTTPHeaderField: header.name) }
      return request
    }

    private func execute(
      _ task: URLSessionDataTask, progress: (@Sendable (Int64) -> Void)? = nil
    ) async throws -> HTTPTransportResponse {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          exchanges.begin(task, continuation, progress)
          task.resume()
        }
      } onCancel: {
        task.cancel()
      }
    }
  }

  /// The requests that are under way. It is the delegate of the session.
  private final class Exchanges: NSObject, URLSessionDataDelegate, Sendable {
    private struct Exchange {
      /// Receives the head; nil once it has.
      var head: CheckedContinuation<HTTPTransportResponse, any Error>?
      var body: AsyncThrowingStream<Data, any Error>.Continuation?
      var progress: (@Sendable (Int64) -> Void)?
      var received = 0
    }

    private let maximumBody: Int
    private let exchanges = Mutex<[Int: Exchange]>([:])

    init(maximumBody: Int) { self.maximumBody = maximumBody }

    func begin(
      _ task: URLSessionTask, _ head: CheckedContinuation<HTTPTransportResponse, any Error>,
      _ progress: (@Sendable (Int64) -> Void)?
    ) {
      exchanges.withLock { $0[task.taskIdentifier] = Exchange(head: head, progress: progress) }
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      guard let response = response as? HTTPURLResponse else { return completionHandler(.cancel) }
      let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self, throwing: (any Error).self)
      // A reader that stops early needs no more of the body.
      continuation.onTermination = { _ in dataTask.cancel() }
      let headers = response.allHeaderFields.compactMap { name, value in
        (name as? String).map { HTTPHeader($0, "\(value)".fieldContent) }
      }
      let answer = HTTPTransportResponse(
        status: response.statusCode, headers: headers, body: ResponseBody(stream: stream))
      let head = exchanges.withLock { exchanges in
        exchanges[dataTask.taskIdentifier]?.body = continuation
        return exchanges[dataTask.taskIdentifier]?.head.take()
      }
      head?.resume(returning: answer)
      completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      let (body, isTooLarge) = exchanges.withLock { exchanges in
        let number = dataTask.taskIdentifier
        exchanges[number]?.received += data.count
        return (exchanges[number]?.body, exchanges[number]?.received ?? 0 > maximumBody)
      }
      if isTooLarge {
        body?.finish(throwing: HTTPTransportError(.broken, "the body has more than \(maximumBody) bytes"))
        dataTask.cancel()
      } else {
        body?.yield(data)
      }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      exchanges.withLock { $0[task.taskIdentifier]?.progress }?(totalBytesSent)
    }

    /// Follows no redirect: the response with the redirect is the answer.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
      let failure = error.map { HTTPTransportError(urlError: $0) }
      exchange.head?.resume(throwing: failure ?? HTTPTransportError(.broken, "the response is not HTTP"))
      if let failure { exchange.body?.finish(throwing: failure) } else { exchange.body?.finish() }
    }
  }

  /// The body of a response.
  private struct ResponseBody: AsyncSequence, Sendable {
    let stream: AsyncThrowingStream<Data, any Error>

    func makeAsyncIterator() -> Iterator { Iterator(iterator: stream.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
      var iterator: AsyncThrowingStream<Data, any Error>.Iterator

      mutating func next() async throws -> Data? {
        let data = try await iterator.next()
        // A stream ends without an error if its reader is cancelled, which is no complete body.
        if data == nil { try Task.checkCancellation() }
        return data
      }
    }
  }

  extension HTTPTransportError {
    /// Converts an error of `URLSession`.
    fileprivate init(urlError error: any Error) {
      let kind: Kind =
        switch (error as? URLError)?.code {
        case .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed, .dataNotAllowed, .internationalRoamingOff:
          .offline
        case .cannotConnectToHost: .refused
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
          .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot,
          .appTransportSecurityRequiresSecureConnection:
          .untrusted
        default: .broken
        }
      self.init(kind, error.localizedDescription)
    }
  }
#endif
