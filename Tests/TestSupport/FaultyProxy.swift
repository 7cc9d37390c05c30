import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A TCP proxy in front of a server on loopback, which can spoil what the server answers.
public final class FaultyProxy: Sendable {
  /// What becomes of a connection.
  public enum Fault: Sendable {
    /// It ends.
    case cut
    /// Nothing more arrives from the server, not even its end.
    case stall
    /// The rest arrives byte by byte.
    case trickle
  }

  private struct Plan {
    var fault = Fault.cut
    /// Bytes from the server until then; nil for never.
    var rest: Int?
  }

  private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  /// Where it listens, on loopback.
  public let port: Int
  private let serverPort: Int
  private let listener: NIOAsyncChannel<Connection, Never>
  private let plan = Mutex(Plan())
  private let passedBytes = Mutex(0)

  /// Hands a proxy to the body and closes it afterwards.
  public static func with<Result: Sendable>(
    serverPort: Int, _ body: @Sendable (FaultyProxy) async throws -> Result
  ) async throws -> Result {
    let proxy = try await FaultyProxy(serverPort: serverPort)
    return try await withThrowingTaskGroup { group in
      group.addTask { try await proxy.run() }
      let result: Swift.Result<Result, any Error>
      do { result = .success(try await body(proxy)) } catch { result = .failure(error) }
      try? await proxy.listener.channel.close()
      try await group.waitForAll()
      return try result.get()
    }
  }

  private init(serverPort: Int) async throws {
    self.serverPort = serverPort
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .bind(host: "127.0.0.1", port: 0) { channel in
        channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
      }
    port = listener.channel.localAddress?.port ?? 0
  }

  /// How many bytes the server has answered.
  public var passed: Int { passedBytes.withLock { $0 } }

  /// Spoils the connection that is the first to pass on so many bytes from now, and no other.
  public func spoil(_ fault: Fault, after bytes: Int) {
    plan.withLock { $0 = Plan(fault: fault, rest: bytes) }
  }

  /// Whether a connection has been spoilt since it was asked for.
  public var isSpent: Bool { plan.withLock { $0.rest == nil } }

  private func run() async throws {
    try await listener.executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await client in connections {
          // An error of one connection is its end and nothing else.
          group.addTask { try? await self.relay(client) }
        }
        // Not before all are taken: over a connection that nobody has taken SwiftNIO would trap.
        group.cancelAll()
      }
    }
  }

  private func relay(_ client: Connection) async throws {
    try await client.executeThenClose { requests, toClient in
      let server = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .connect(host: "127.0.0.1", port: serverPort) { channel in
          channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
        }
      try await server.executeThenClose { answers, toServer in
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { for try await bytes in requests { try await toServer.write(bytes) } }
          group.addTask { try await self.pass(answers, to: toClient) }
          // With one direction the other ends, too.
          defer { group.cancelAll() }
          try await group.next()
        }
      }
    }
  }

  private func pass(
    _ answers: NIOAsyncChannelInboundStream<ByteBuffer>, to client: NIOAsyncChannelOutboundWriter<ByteBuffer>
  ) async throws {
    var tricklesHere = false
    for try await var bytes in answers {
      passedBytes.withLock { $0 += bytes.readableBytes }
      let (sound, fault) = admit(bytes.readableBytes)
      if !tricklesHere, let head = bytes.readSlice(length: sound), head.readableBytes > 0 {
        try await client.write(head)
      }
      switch fault {
      case .cut: return
      case .stall: return try await Task.sleep(for: .seconds(3600))
      case .trickle: tricklesHere = true
      case nil: break
      }
      while let byte = bytes.readSlice(length: 1) { try await client.write(byte) }
    }
  }

  /// How many of the bytes arrive as they are, and what happens then.
  private func admit(_ count: Int) -> (sound: Int, fault: Fault?) {
    plan.withLock { plan in
      guard let rest = plan.rest else { return (count, nil) }
      plan.rest = count > rest ? nil : rest - count
      return count > rest ? (rest, plan.fault) : (count, nil)
    }
  }
}
