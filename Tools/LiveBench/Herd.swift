import ArgumentParser
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Sends the same request over many connections at once.
struct Herd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Prints the number of responses with the status 200.")

  @Option(help: "The port of the server.") var port: Int
  @Option(help: "The path and query of the request.") var target: String
  @Option(help: "The number of connections.") var count = 1000

  func run() async throws {
    let score = Score()
    let request = ByteBuffer(string: "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let channels = try await withThrowingTaskGroup(of: (any Channel).self) { group in
      for _ in 0..<count {
        group.addTask {
          try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
              channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Answer(score))
              }
            }
            .connect(host: "127.0.0.1", port: port).get()
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for channel in channels { channel.writeAndFlush(request, promise: nil) }
    let end = ContinuousClock.now + .seconds(20)
    while score.answers.withLock({ $0.all }) < count, .now < end { try await Task.sleep(for: .milliseconds(10)) }
    print(score.answers.withLock { $0.good })
  }

  private final class Score: Sendable {
    let answers = Mutex((all: 0, good: 0))
  }

  private final class Answer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let score: Score
    private var isKnown = false

    init(_ score: Score) {
      self.score = score
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard !isKnown else { return }
      isKnown = true
      let isGood = unwrapInboundIn(data).readableBytesView.starts(with: Data("HTTP/1.1 200 ".utf8))
      score.answers.withLock { $0 = ($0.all + 1, $0.good + (isGood ? 1 : 0)) }
    }
  }
}
