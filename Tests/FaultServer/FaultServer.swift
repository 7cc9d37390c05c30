import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// An HTTP/1.1 server on loopback that does whatever its answers say, and keeps a record of its requests.
///
/// Nothing about it is polite by itself: it adds no field, and ends a connection only where an answer or the client says
/// so. A client that closes its side while an answer hangs, drips or streams is taken to have gone.
public final class FaultServer: Sendable {
  /// Decides about a request. It is called on an event loop and must not wait.
  public typealias Handler = @Sendable (FaultRequest) -> FaultAnswer

  private struct State {
    var handler: Handler
    var queue: [FaultAnswer] = []
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
  /// Where it listens, on loopback.
  public let port: Int

  /// Scheme and authority.
  public var url: String { "http://127.0.0.1:\(port)" }

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - port: 0 for a free one; another for a server that comes back.
  ///   - handler: Answers what ``answer(next:)`` has not queued answers for.
  ///   - time: The clock of arrivals; nil for the time since now.
  public static func start(
    port: Int = 0, handler: @escaping Handler = { _ in FaultAnswer(status: 404) },
    time: (@Sendable () -> Duration)? = nil
  ) async throws -> FaultServer {
    let start = ContinuousClock.now
    let server = Mutex<FaultServer?>(nil)
    let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // Nobody is accepted before there is a server to answer; until then connections wait in the backlog.
      .serverChannelOption(.autoRead, value: false)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
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

  /// Hands a server to the body and stops it afterwards.
  public static func with<Result>(
    _ handler: @escaping Handler = { _ in FaultAnswer(status: 404) },
    _ body: (FaultServer) async throws -> Result
  ) async throws -> Result {
    let server = try await start(handler: handler)
    do {
      let result = try await body(server)
      await server.stop()
      return result
    } catch {
      await server.stop()
      throw error
    }
  }

  /// Stops listening and closes all connections, whatever hangs on them.
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

  /// Answers all further requests so.
  public func answer(_ handler: @escaping Handler) { state.withLock { $0.handler = handler } }

  /// Answers the next requests so, one after another and before the handler is asked again.
  public func answer(next answers: FaultAnswer...) { state.withLock { $0.queue += answers } }

  /// Lets all answers go on that hang at present.
  public func release() {
    for channel in state.withLock({ Array($0.open.values) }) {
      channel.pipeline.fireUserInboundEventTriggered(FaultConnection.Signal.release)
    }
  }
}

extension FaultServer {
  /// How many queued answers have not been used.
  public var queued: Int { state.withLock { $0.queue.count } }

  /// All requests since the start or the last ``takeRequests()``, in the order of their arrival.
  public var requests: [FaultRequest] { state.withLock { $0.requests } }

  /// The requests so far, which are then forgotten.
  public func takeRequests() -> [FaultRequest] {
    state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  /// How many connections there have been.
  public var connections: Int { state.withLock { $0.connections } }

  /// How many there are.
  public var openConnections: Int { state.withLock { $0.open.count } }

  /// Bytes of requests, of all connections.
  public var bytesRead: Int { state.withLock { $0.bytesRead } }

  /// Bytes of answers that the kernel has taken, of all connections; a few hundred KiB of them may not have been read.
  public var bytesWritten: Int { state.withLock { $0.bytesWritten } }

  func answer(to request: FaultRequest) -> FaultAnswer {
    let (queued, handler) = state.withLock { state in
      state.requests.append(request)
      return (state.queue.isEmpty ? nil : state.queue.removeFirst(), state.handler)
    }
    // Not under the lock: the handler may ask the server.
    return queued ?? handler(request)
  }

  func count(read bytes: Int) { state.withLock { $0.bytesRead += bytes } }

  func count(written bytes: Int) { state.withLock { $0.bytesWritten += bytes } }

  func forget(_ connection: Int) { state.withLock { $0.open[connection] = nil } }

  /// - Returns: The number of a new connection, nil after the end.
  private func admit(_ channel: any Channel) -> Int? {
    state.withLock { state in
      guard !state.isStopped else { return nil }
      state.connections += 1
      state.open[state.connections] = channel
      return state.connections
    }
  }
}
