import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TestKit

/// A proxy that terminates TLS in front of a PostgreSQL server, as poolers and managed databases do, and writes records
/// of up to 16 KiB.
///
/// It sends a response once it is complete, so that its records are as full as possible, whatever the server's pace.
package final class TLSProxy: Sendable {
  /// The port on loopback.
  package let port: Int
  private let target: Target
  private let group: MultiThreadedEventLoopGroup

  /// The port of the server on loopback, which may be absent at times. A new value applies to new connections.
  package var serverPort: Int {
    get { target.port.withLock { $0 } }
    set { target.port.withLock { $0 = newValue } }
  }

  /// Starts a proxy with a new certificate for `localhost`.
  package convenience init(serverPort: Int) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-tls.\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await self.init(serverPort: serverPort, certificates: TestCertificates(in: folder, host: "localhost"))
  }

  /// Starts a proxy.
  ///
  /// - Parameters:
  ///   - serverPort: The port of the server on loopback, which may be absent at times.
  ///   - certificates: The certificate that the proxy presents.
  package init(serverPort: Int, certificates: TestCertificates) async throws {
    let target = Target(port: serverPort)
    self.target = target
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificates.certificate.utf8)).map {
        .certificate($0)
      },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(certificates.key.utf8), format: .pem)))
    configuration.shutdownTimeout = .milliseconds(100)
    let context = try NIOSSLContext(configuration: configuration)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      let listener = try await ServerBootstrap(group: group)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ClientSide(target: target, context: context))
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      port = listener.localAddress?.port ?? 0
      self.group = group
    } catch {
      try await group.shutdownGracefully()
      throw error
    }
  }

  /// Closes all connections.
  package func end() async {
    try? await group.shutdownGracefully()
  }

  /// Runs the body with a proxy and stops it afterwards.
  package static func with<Result: Sendable>(
    serverPort: Int, _ body: @Sendable (TLSProxy) async throws -> Result
  ) async throws -> Result {
    try await withResource(try await TLSProxy(serverPort: serverPort), release: { await $0.end() }, body)
  }
}

/// The server for new connections.
private final class Target: Sendable {
  let port: Mutex<Int>

  init(port: Int) {
    self.port = Mutex(port)
  }
}

/// The connection of a client. Its first message requests TLS or the cancellation of a statement (PostgreSQL 15, 55.2).
private final class ClientSide: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let requestForTLS: [UInt8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F]

  private let target: Target
  private let context: NIOSSLContext
  private var isFirst = true
  private var server: (any Channel)?
  /// The bytes that arrived before the connection to the server was made.
  private var held: [ByteBuffer] = []

  init(target: Target, context: NIOSSLContext) {
    self.target = target
    self.context = context
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    if let server { return server.writeAndFlush(bytes, promise: nil) }
    guard isFirst else { return held.append(bytes) }
    isFirst = false
    connect(context)
    guard bytes.readableBytesView.elementsEqual(Self.requestForTLS) else { return held.append(bytes) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "S")), promise: nil)
    do {
      try context.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: self.context), position: .first)
    } catch {
      context.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    server?.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func connect(_ context: ChannelHandlerContext) {
    let client = context.channel
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    ClientBootstrap(group: context.eventLoop)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 64 * 1024))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ServerSide(client: client))
        }
      }
      .connect(host: "127.0.0.1", port: target.port.withLock { $0 })
      .whenComplete { result in
        let (handler, context) = bound.value
        guard case .success(let server) = result, context.channel.isActive else {
          if case .success(let server) = result { server.close(promise: nil) }
          return context.close(promise: nil)
        }
        handler.server = server
        for bytes in handler.held { server.write(bytes, promise: nil) }
        handler.held = []
        server.flush()
      }
  }
}

/// The connection to the server.
private final class ServerSide: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// ReadyForQuery without its last byte, the transaction status.
  private static let ready: [UInt8] = [UInt8(ascii: "Z"), 0, 0, 0, 5]

  private let client: any Channel
  private var held = ByteBuffer()
  private var isReady = false
  private var timer: Scheduled<Void>?

  init(client: any Channel) {
    self.client = client
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    held.writeBuffer(&bytes)
    let isComplete = held.readableBytesView.suffix(6).prefix(5).elementsEqual(Self.ready)
    isReady = isReady || isComplete
    timer?.cancel()
    if isComplete || !isReady || held.readableBytes > 4 << 20 { return send() }
    // Some messages do not end with ReadyForQuery: a notification, the start of COPY, a server's final message.
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(5)) { self.send() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    send()
    client.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func send() {
    if held.readableBytes == 0 { return }
    client.writeAndFlush(held, promise: nil)
    held = ByteBuffer()
  }
}
