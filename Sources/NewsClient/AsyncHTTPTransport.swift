import AsyncHTTPClient
public import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

/// Exchanges over AsyncHTTPClient.
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
    // Who is offline is told so at once; when to try again is not the pool's to decide.
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

  private func execute(_ request: HTTPClientRequest) async throws -> HTTPAnswer {
    let response = try await client.execute(request, deadline: .distantFuture)
    return HTTPAnswer(
      status: Int(response.status.code),
      // White space around a value is none of it (RFC 9110, section 5.5).
      headers: response.headers.map { HTTPHeader($0.name, $0.value.trimmingCharacters(in: .whitespaces)) },
      body: response.body.map { Data($0.readableBytesView) })
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
