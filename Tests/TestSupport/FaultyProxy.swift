import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A TCP proxy in front of a server on loopback that can disturb the server's responses.
public final class FaultyProxy: Sendable {
  /// The effect of a fault on a connection.
  public enum Fault: Sendable {
    /// The connection is closed.
    case cut
    /// Nothing more arrives from the server, not even the end of the connection.
    case stall
    /// The remaining bytes arrive one at a time.
    case trickle
  }

  private struct Plan {
    var fault = Fault.cut
    /// The number of bytes from the server until the fault; nil for none.
    var rest: Int?
  }

  private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  /// The port on loopback.
  public let port: Int
  private let serverPort: Int
  private let listener: NIOAsyncChannel<Connection, Never>
  private let plan = Mutex(Plan())
  private let passedBytes = Mutex(0)
  private let sentBytes = Mutex(0)

  /// Runs the body with a proxy and closes it afterwards.
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

  /// The number of bytes that the server has sent.
  public var passed: Int { passedBytes.withLock { $0 } }

  /// The number of bytes that clients have sent.
  public var sent: Int { sentBytes.withLock { $0 } }

  /// Disturbs only the connection that first exceeds the given number of bytes from now on, counted over all
  /// connections.
  public func spoil(_ fault: Fault, after bytes: Int) {
    plan.withLock { $0 = Plan(fault: fault, rest: bytes) }
  }

  /// Whether the fault has occurred since it was requested.
  public var isSpent: Bool { plan.withLock { $0.rest == nil } }

  private func run() async throws {
    try await listener.executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await client in connections {
          // An error on one connection ends only that connection.
          group.addTask { try? await self.relay(client) }
        }
        // The loop takes all connections before it cancels them: SwiftNIO traps if a connection is never taken.
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
      try await server.executeThenClose { responses, toServer in
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            for try await bytes in requests {
              self.sentBytes.withLock { $0 += bytes.readableBytes }
              try await toServer.write(bytes)
            }
          }
          group.addTask { try await self.pass(responses, to: toClient) }
          // When one direction ends, the other ends too.
          defer { group.cancelAll() }
          try await group.next()
        }
      }
    }
  }

  private func pass(
    _ responses: NIOAsyncChannelInboundStream<ByteBuffer>, to client: NIOAsyncChannelOutboundWriter<ByteBuffer>
  ) async throws {
    var tricklesHere = false
    for try await var bytes in responses {
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

  /// Returns the number of bytes to forward unchanged, and the fault that follows.
  private func admit(_ count: Int) -> (sound: Int, fault: Fault?) {
    plan.withLock { plan in
      guard let rest = plan.rest else { return (count, nil) }
      plan.rest = count > rest ? nil : rest - count
      return count > rest ? (rest, plan.fault) : (count, nil)
    }
  }
}
