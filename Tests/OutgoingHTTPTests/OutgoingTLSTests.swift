import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import NIOSSL
import NetworkAddresses
import OutgoingHTTP
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite struct OutgoingTLSTests {
  @Test("The certificate must be for the host of the address, whatever the address resolves to")
  func certificates() async throws {
    let (certificates, trusting) = try Self.certified()
    let server = try await Self.start(certificates)
    try await withResource(server, release: { try await $0.close() }) { server in
      let port = try #require(server.localAddress?.port)
      try await Self.withClient(trusting) { client in
        let response = try await client.send(OutgoingRequest(url: try OutgoingURL("https://feeds.example:\(port)/")))
        #expect(response.body == Array("ok".utf8))
        await #expect(throws: OutgoingError.insecure("the certificate of other.example is for another host")) {
          try await client.send(OutgoingRequest(url: try OutgoingURL("https://other.example:\(port)/")))
        }
        await #expect(throws: OutgoingError.insecure("the certificate of 127.0.0.1 is for another host")) {
          try await client.send(OutgoingRequest(url: try OutgoingURL("https://127.0.0.1:\(port)/")))
        }
      }
      try await Self.withClient(.makeClientConfiguration()) { client in
        await #expect(
          throws: OutgoingError.insecure("the certificate of feeds.example is not trusted or has expired")
        ) {
          try await client.send(OutgoingRequest(url: try OutgoingURL("https://feeds.example:\(port)/")))
        }
      }
    }
  }

  @Test("A body that ends with a connection without the alert of TLS is incomplete, unless its length is known")
  func truncation() async throws {
    let (certificates, trusting) = try Self.certified()
    for (head, closesTLS, isComplete) in [
      ("", true, true), ("", false, false), ("Content-Length: 2\r\n", true, true),
      ("Content-Length: 2\r\n", false, true),
      ("Content-Length: 3\r\n", false, false),
    ] {
      let server = try await Self.start(
        certificates, answer: "HTTP/1.1 200 OK\r\n\(head)Connection: close\r\n\r\nok", closesTLS: closesTLS)
      try await withResource(server, release: { try await $0.close() }) { server in
        let port = try #require(server.localAddress?.port)
        try await Self.withClient(trusting) { client in
          let request = OutgoingRequest(url: try OutgoingURL("https://feeds.example:\(port)/"))
          if isComplete {
            #expect(try await client.send(request).body == Array("ok".utf8))
          } else {
            let incomplete = "feeds.example closed the connection before its response was complete"
            await #expect(throws: OutgoingError.malformed(incomplete)) { try await client.send(request) }
          }
        }
      }
    }
  }

  @Test("A redirect from https to http at the same host and port gets no credentials")
  func downgrade() async throws {
    let (certificates, trusting) = try Self.certified()
    let received = Mutex<[String]>([])
    let redirect =
      "HTTP/1.1 307 x\r\nLocation: http://feeds.example:PORT/plain\r\nContent-Length: 0\r\n\r\n"
    let server = try await Self.start(certificates, answer: redirect) { bytes in
      received.withLock { $0.append(String(buffer: bytes)) }
    }
    try await withResource(server, release: { try await $0.close() }) { server in
      let port = try #require(server.localAddress?.port)
      try await Self.withClient(trusting) { client in
        let url = try OutgoingURL("https://feeds.example:\(port)/")
        // The server speaks only TLS.
        await #expect(throws: OutgoingError.self) {
          try await client.send(OutgoingRequest(url: url, fields: [.authorization: "Basic secret"]))
        }
      }
      let plain = received.withLock { $0.joined() }
      #expect(plain.contains("GET /plain HTTP/1.1") && !plain.contains("secret"))
    }
  }

  @Test("TLS 1.2 at least is offered")
  func versions() async throws {
    let versions = try await ClientHello.versions { port in
      await #expect(throws: OutgoingError.self) {
        try await Self.withClient(.makeClientConfiguration()) { client in
          _ = try await client.send(OutgoingRequest(url: try OutgoingURL("https://127.0.0.1:\(port)/")))
        }
      }
    }
    #expect(versions == [0x0303, 0x0304])
  }

  private static func withClient(_ tls: TLSConfiguration, _ body: (OutgoingClient) async throws -> Void) async throws {
    var policy = AddressPolicy()
    policy.allowedNetworks = [try #require(IPNetwork("127.0.0.1"))]
    let resolver = NameResolver { [try SocketAddress(ipAddress: "127.0.0.1", port: $1)] }
    let client = OutgoingClient(policy: policy, userAgent: "Tidings", resolver: resolver, tls: tls)
    try await withResource(client, release: { await $0.shutdown() }, body)
  }

  /// Returns certificates for feeds.example, and the configuration of a client that trusts their authority.
  private static func certified() throws -> (TestCertificates, TLSConfiguration) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let certificates = try TestCertificates(in: folder, host: "feeds.example")
    var trusting = TLSConfiguration.makeClientConfiguration()
    trusting.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificates.authority))
    return (certificates, trusting)
  }

  /// Starts a server that answers anything.
  ///
  /// - Parameters:
  ///   - answer: The response.
  ///   - closesTLS: Whether the server closes the connection with the alert of TLS; nil if it leaves that to the client.
  ///   - receive: Receives the bytes of clients as they are sent.
  private static func start(
    _ certificates: TestCertificates,
    answer: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", closesTLS: Bool? = nil,
    receive: @escaping @Sendable (ByteBuffer) -> Void = { _ in }
  ) async throws -> any Channel {
    let configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificates.certificate.utf8)).map {
        .certificate($0)
      },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(certificates.key.utf8), format: .pem)))
    let context = try NIOSSLContext(configuration: configuration)
    return try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            Cutter(receive), NIOSSLServerHandler(context: context), Answer(answer, closesTLS: closesTLS),
          ])
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  /// Closes the connection below TLS, and sees what is received there.
  private final class Cutter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    struct Signal: Sendable {}

    private let receive: @Sendable (ByteBuffer) -> Void

    init(_ receive: @escaping @Sendable (ByteBuffer) -> Void) { self.receive = receive }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      receive(unwrapInboundIn(data))
      context.fireChannelRead(data)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
      if event is Signal {
        context.close(promise: promise)
      } else {
        context.triggerUserOutboundEvent(event, promise: promise)
      }
    }
  }

  private final class Answer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String
    private let closesTLS: Bool?

    init(_ answer: String, closesTLS: Bool?) {
      self.answer = answer
      self.closesTLS = closesTLS
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
      let answer = answer.replacing("PORT", with: "\(context.localAddress?.port ?? 0)")
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer))).whenSuccess { [closesTLS] in
        switch closesTLS {
        case true: bound.value.close(promise: nil)
        case false: bound.value.triggerUserOutboundEvent(Cutter.Signal(), promise: nil)
        default: break
        }
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
