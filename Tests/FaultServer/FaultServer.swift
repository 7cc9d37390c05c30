import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestKit

/// An HTTP/1.1 server on loopback that sends exactly what its responses contain and records its requests.
///
/// It adds no field, and it ends a connection only if a response or the client requires it. A client that closes its
/// side during a response that stalls, drips or streams is treated as gone.
public final class FaultServer: Sendable {
  /// A function that returns the response to a request. It is called on an event loop and must not block.
  public typealias Handler = @Sendable (FaultRequest) -> FaultResponse

  private struct State {
    var handler: Handler
    var queue: [FaultResponse] = []
    var requests: [FaultRequest] = []
    var connections = 0
    var open: [Int: any Channel] = [:]
    var bytesRead = 0
    var bytesWritten = 0
    var isStopped = false
    var listener: (any Channel)?
  }

  private let state: Mutex<State>
  let time: @Sendable () -> Duration
  /// The port on loopback.
  public let port: Int

  /// The scheme and authority.
  public var url: String { "http://127.0.0.1:\(port)" }

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - port: The port; 0 for a free one. A fixed port serves tests in which a server comes back.
  ///   - handler: The handler for requests beyond the responses queued with ``respond(next:)``.
  ///   - time: The clock for arrivals; nil for the time since the start.
  public static func start(
    port: Int = 0, handler: @escaping Handler = { _ in FaultResponse(status: 404) },
    time: (@Sendable () -> Duration)? = nil
  ) async throws -> FaultServer {
    let start = ContinuousClock.now
    let server = Mutex<FaultServer?>(nil)
    let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // Connections wait in the backlog until the server exists; none is accepted before.
      .serverChannelOption(.autoRead, value: false)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let server = server.withLock({ $0 }), let number = server.admit(channel) else {
            throw ChannelError.alreadyClosed
          }
          try channel.pipeline.syncOperations.addHandler(FaultConnection(number: number, server: server))
        }
      }
      .bind(host: "127.0.0.1", port: port).get()
    let made = FaultServer(
      listener: listener, time: time ?? { ContinuousClock.now - start }, handler: handler)
    server.withLock { $0 = made }
    try await listener.setOption(.autoRead, value: true).get()
    listener.closeFuture.whenComplete { _ in server.withLock { $0 = nil } }
    return made
  }

  private init(listener: any Channel, time: @escaping @Sendable () -> Duration, handler: @escaping Handler) {
    port = listener.localAddress?.port ?? 0
    self.time = time
    state = Mutex(State(handler: handler, listener: listener))
  }

  /// Runs the body with a server and stops it afterwards.
  public static func with<Result>(
    _ handler: @escaping Handler = { _ in FaultResponse(status: 404) },
    _ body: (FaultServer) async throws -> Result
  ) async throws -> Result {
    try await withResource(try await start(handler: handler), release: { await $0.stop() }, body)
  }

  /// Stops listening and closes all connections, including stalled ones.
  public func stop() async {
    let channels = state.withLock { state in
      state.isStopped = true
      return [state.listener].compactMap(\.self) + state.open.values
    }
    for channel in channels {
      channel.close(promise: nil)
      try? await channel.closeFuture.get()
    }
  }

  /// Closes all connections, including stalled ones. New ones are accepted.
  public func closeConnections() async {
    for channel in state.withLock({ Array($0.open.values) }) {
      channel.close(promise: nil)
      try? await channel.closeFuture.get()
    }
  }

  /// Sets the handler for all further requests.
  public func respond(_ handler: @escaping Handler) { state.withLock { $0.handler = handler } }

  /// Queues responses for the next requests, in order; they take precedence over the handler.
  public func respond(next responses: FaultResponse...) { state.withLock { $0.queue += responses } }

  /// Continues all responses that are stalled at present.
  public func release() {
    for channel in state.withLock({ Array($0.open.values) }) {
      channel.pipeline.fireUserInboundEventTriggered(FaultConnection.Signal.release)
    }
  }
}

extension FaultServer {
  /// The number of unused queued responses.
  public var queued: Int { state.withLock { $0.queue.count } }

  /// All requests since the start or the last ``takeRequests()``, in the order of their arrival.
  public var requests: [FaultRequest] { state.withLock { $0.requests } }

  /// Returns the recorded requests and clears the record.
  public func takeRequests() -> [FaultRequest] {
    state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  /// The number of connections since the start.
  public var connections: Int { state.withLock { $0.connections } }

  /// The number of open connections.
  public var openConnections: Int { state.withLock { $0.open.count } }

  /// The bytes received on all connections.
  public var bytesRead: Int { state.withLock { $0.bytesRead } }

  /// The bytes that the kernel has accepted on all connections; the clients may not have read a few hundred KiB of
  /// them.
  public var bytesWritten: Int { state.withLock { $0.bytesWritten } }

  func respond(to request: FaultRequest) -> FaultResponse {
    let (queued, handler) = state.withLock { state in
      state.requests.append(request)
      return (state.queue.isEmpty ? nil : state.queue.removeFirst(), state.handler)
    }
    // The handler may use the server, so it is called without the lock.
    return queued ?? handler(request)
  }

  func count(read bytes: Int) { state.withLock { $0.bytesRead += bytes } }

  func count(written bytes: Int) { state.withLock { $0.bytesWritten += bytes } }

  func forget(_ connection: Int) { state.withLock { $0.open[connection] = nil } }

  /// Registers a connection.
  ///
  /// - Returns: The number of the connection; nil if the server is stopped.
  private func admit(_ channel: any Channel) -> Int? {
    state.withLock { state in
      guard !state.isStopped else { return nil }
      state.connections += 1
      state.open[state.connections] = channel
      return state.connections
    }
  }
}
