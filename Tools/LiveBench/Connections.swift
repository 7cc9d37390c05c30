import ArgumentParser
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Opens many connections to a server and keeps them open.
struct Connections: AsyncParsableCommand {
  enum Kind: String, ExpressibleByArgument {
    /// Sends no request.
    case idle
    /// Waits for changes with a long poll.
    case wait
    /// Reads an event stream.
    case events
  }

  static let configuration = CommandConfiguration(
    abstract:
      "Prints the memory per connection in bytes, and the seconds until a publication has reached all connections."
  )

  @Option(help: "What the connections do: idle, wait or events.") var kind: Kind
  @Option(help: "The port of the server.") var port: Int
  @Option(help: "The id of the server's process, whose memory is measured.") var process: Int
  @Option(help: "The number of connections.") var count = 10_000
  @Option(help: "A key with the scope items:publish.") var key = ""

  /// The time for the server to become idle.
  private static let settlingTime = Duration.seconds(2)

  func run() async throws {
    let tally = Tally()
    let request = try self.request()
    try await Task.sleep(for: Self.settlingTime)
    let before = try residentMemory(of: process)
    // Smaller than the server's listen backlog.
    let batch = 100
    for first in stride(from: 0, to: count, by: batch) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in first..<min(first + batch, count) { group.addTask { try await open(request, tally) } }
        try await group.waitForAll()
      }
    }
    try await Task.sleep(for: Self.settlingTime)
    var line = "\((try residentMemory(of: process) - before) / count)"
    if kind != .idle { line += try await " \(reach(tally))" }
    print(line)
  }

  private func request() throws -> ByteBuffer {
    let target =
      switch kind {
      case .idle: ""
      case .wait: "/v1/changes?since=\(try Feed(port: port).token())&wait=50"
      case .events: "/v1/events"
      }
    return ByteBuffer(
      string: target.isEmpty ? "" : "GET \(target) HTTP/1.1\r\nHost: localhost\r\nUser-Agent: news/1\r\n\r\n")
  }

  private func open(_ request: ByteBuffer, _ tally: Tally) async throws {
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Ear(tally)) }
      }
      .connect(host: "127.0.0.1", port: port).get()
    if request.readableBytes > 0 { try await channel.writeAndFlush(request) }
  }

  /// Publishes an item and waits for all connections to receive it.
  ///
  /// - Returns: The seconds from the acknowledgement until the last connection has received it.
  private func reach(_ tally: Tally) async throws -> String {
    let writer = try Feed(port: port, key: key)
    tally.begin()
    _ = try writer.publish()
    let acknowledged = ContinuousClock.now
    let end = acknowledged + .seconds(20)
    while tally.heard.count < count, .now < end { try await Task.sleep(for: .milliseconds(10)) }
    let heard = tally.heard
    guard heard.count == count else { throw ValidationError("only \(heard.count) of \(count) were notified") }
    return String(format: "%.2f", max(0, (heard.last - acknowledged) / .seconds(1)))
  }
}

/// Counts the connections that have received something in the current round.
private final class Tally: Sendable {
  private let state = Mutex((round: 0, heard: (count: 0, last: ContinuousClock.now)))

  var heard: (count: Int, last: ContinuousClock.Instant) { state.withLock { $0.heard } }

  /// Starts a new round with a count of 0.
  func begin() { state.withLock { $0 = ($0.round + 1, (0, .now)) } }

  /// Counts a connection once per round.
  ///
  /// - Parameter round: The round in which this connection was last counted; set to the current one.
  func hear(_ round: inout Int) {
    round = state.withLock { state in
      if state.round != round { state.heard = (state.heard.count + 1, .now) }
      return state.round
    }
  }
}

private final class Ear: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let tally: Tally
  private var round = 0

  init(_ tally: Tally) {
    self.tally = tally
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { tally.hear(&round) }
}
