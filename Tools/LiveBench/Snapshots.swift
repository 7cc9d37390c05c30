import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Takes the snapshot over many slow connections at once, while other readers use the server.
struct Snapshots: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: """
      Prints median, 99th percentile and maximum of the other readers' response times in ms, the growth of the server's \
      memory in MiB, and the number of pages that were taken.
      """)

  @OptionGroup var readers: Readers
  @Option(help: "The id of the server's process, whose memory is measured.") var process: Int
  @Option(help: "The number of connections.") var count = 1000
  @Option(help: "The number of bytes that a connection accepts per second.") var rate = 125_000
  @Option(help: "The duration in seconds.") var seconds = 30

  func run() async throws {
    let before = try residentMemory(of: process)
    let pages = Counter()
    let channels = try await withThrowingTaskGroup(of: (any Channel).self) { group in
      for _ in 0..<count { group.addTask { try await open(pages) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    async let times = readers.read(for: .seconds(seconds))
    var most = before
    for _ in 0..<seconds * 5 {
      try await Task.sleep(for: .milliseconds(200))
      most = max(most, try residentMemory(of: process))
    }
    print("\(summary(of: try await times)) \((most - before) >> 20) \(pages.value)")
    for channel in channels { try? await channel.close() }
  }

  private func open(_ pages: Counter) async throws -> any Channel {
    // Ten times a second, the connection accepts one buffer.
    let buffer = rate / 10
    return try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(.autoRead, value: false)
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: buffer))
      .channelOption(.socketOption(.so_rcvbuf), value: buffer)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          try channel.pipeline.syncOperations.addHandler(Download(pages))
        }
      }
      .connect(host: "127.0.0.1", port: readers.port).get()
  }
}

private final class Counter: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .relaxed) }

  func add() { count.add(1, ordering: .relaxed) }
}

/// Takes the snapshot page by page.
private final class Download: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let pages: Counter
  private var token: String?
  /// The end of the body, which says whether there are more pages.
  private var tail: [UInt8] = []
  private var reading: RepeatedTask?

  init(_ pages: Counter) {
    self.pages = pages
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    reading = context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(100)) { _ in
      channel.read()
    }
    request("/v1/changes?limit=1000", context)
  }

  func channelInactive(context: ChannelHandlerContext) { reading?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      token = head.headers.first(name: "sync-token")
      tail = []
    case .body(let bytes):
      tail = Array((tail + bytes.readableBytesView).suffix(300))
    case .end:
      pages.add()
      guard let token, String(decoding: tail, as: UTF8.self).contains(#""more":true"#) else { return }
      request("/v1/changes?limit=1000&since=\(token)", context)
    }
  }

  private func request(_ target: String, _ context: ChannelHandlerContext) {
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: ["Host": "localhost"])
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}
