import AsyncHTTPClient
public import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Exchanges over AsyncHTTPClient, with TLS 1.2 or later.
public final class AsyncHTTPTransport: HTTPTransport {
  private let client: HTTPClient

  /// A transport with a pool of connections of its own.
  ///
  /// - Parameters:
  ///   - maximumBody: How many bytes a body may have once its coding is undone; more is an error, so that a few
  ///     kilobytes cannot become gigabytes.
  ///   - connectTimeout: How long an attempt to connect may take, in seconds.
  public init(maximumBody: Int = 8 << 20, connectTimeout: Int64 = 10) {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.decompression = .enabled(limit: .size(maximumBody))
    configuration.timeout.connect = .seconds(connectTimeout)
    // Older versions of TLS are deprecated (RFC 8996).
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    configuration.tlsConfiguration = tls
    // A failure is reported at once; the pool does not decide when to try again.
    configuration.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(eventLoopGroupProvider: .shared(Self.eventLoop), configuration: configuration)
  }

  /// One thread for all transports of the process: a client waits for one server, whatever number of processors there is.
  private static let eventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  deinit {
    // It keeps itself alive until its connections are closed.
    client.shutdown { _ in }
  }

  /// Sends a GET request; see ``HTTPTransport/get(_:headers:)``.
  public func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPAnswer {
    var request = HTTPClientRequest(url: url.absoluteString)
    for header in headers { request.headers.add(name: header.name, value: header.value) }
    return try await execute(request)
  }

  /// Sends a file; see ``HTTPTransport/upload(_:to:method:headers:)``.
  public func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPAnswer {
    var request = HTTPClientRequest(url: url.absoluteString)
    request.method = HTTPMethod(rawValue: method)
    for header in headers { request.headers.add(name: header.name, value: header.value) }
    request.body = .stream(FileChunks(file: file), length: .known(file.length))
    return try await execute(request)
  }

  /// - Throws: ``HTTPTransportError``
  private func execute(_ request: HTTPClientRequest) async throws -> HTTPAnswer {
    let response: HTTPClientResponse
    do {
      // The deadline is the caller's, who cancels the task.
      response = try await client.execute(request, deadline: .distantFuture)
    } catch {
      throw HTTPTransportError(error)
    }
    return HTTPAnswer(
      status: Int(response.status.code),
      // White space around a value is none of it (RFC 9110, section 5.5).
      headers: response.headers.map { HTTPHeader($0.name, $0.value.trimmingCharacters(in: .whitespaces)) },
      body: AnswerBody(body: response.body))
  }
}

/// The content of an answer; its errors are sentences.
private struct AnswerBody: AsyncSequence, Sendable {
  let body: HTTPClientResponse.Body

  func makeAsyncIterator() -> Iterator { Iterator(iterator: body.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    var iterator: HTTPClientResponse.Body.AsyncIterator

    mutating func next() async throws -> Data? {
      do {
        return try await iterator.next().map { Data($0.readableBytesView) }
      } catch {
        throw HTTPTransportError(error)
      }
    }
  }
}

/// A file in pieces, read when they are wanted.
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
      if handle == nil { handle = try FileHandle(forReadingFrom: file.url) }
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
  /// The failure that an error of AsyncHTTPClient, NIO or BoringSSL stands for.
  init(_ error: any Error) {
    if let error = error as? HTTPTransportError {
      self = error
    } else if let error = error as? NIOConnectionError, !error.connectionErrors.isEmpty {
      // A name may have several addresses; an answer of any of them says more than silence of the others.
      let failures = error.connectionErrors.map { HTTPTransportError($0.error) }
      self = failures.first { $0.kind == .refused } ?? failures[0]
    } else if error is NIOConnectionError || error is SocketAddressError || error is SocketAddressError.UnknownHost {
      self.init(.offline, "the name cannot be resolved")
    } else {
      self.init(Self.kind(error), ConnectionFailure.reason(error))
    }
  }

  private static func kind(_ error: any Error) -> Kind {
    switch error {
    case let error as IOError where [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL].contains(error.errnoCode):
      .offline
    case let error as IOError where error.errnoCode == ECONNREFUSED: .refused
    case let error as HTTPClientError where error == .connectTimeout: .refused
    case ChannelError.connectTimeout: .refused
    case let error as HTTPClientError where error == .tlsHandshakeTimeout: .untrusted
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: .untrusted
    default: .broken
    }
  }
}
