import ArgumentParser
import BackgroundFetch
import Foundation
import News
import NewsClient
import Synchronization

/// Publishes items one by one while a client watches.
struct Stored: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Prints median, 99th percentile and maximum in ms, from the sending of an item to its being stored by a client.")

  @Option(help: "The port of the server.") var port: Int
  @Option(help: "A key with the scope items:publish.") var key: String
  @Option(help: "The folder of the client's store.") var store: String
  @Option(help: "The number of items.") var count = 300

  func run() async throws {
    guard let server = URL(string: "http://127.0.0.1:\(port)") else { throw ExitCode.failure }
    let folder = URL(filePath: store, directoryHint: .isDirectory)
    let client = try NewsFetcher(
      .init(folder: folder, feed: FollowedFeed(server: server), userAgent: "LiveBench/1"),
      application: ApplicationLifecycle(launchReason: .push),
      log: { FileHandle.standardError.write(Data("\($0)\n".utf8)) })
    let stored = Mutex((inserted: 0, at: ContinuousClock.now))
    let observation = client.changes.add { changes in
      stored.withLock { $0 = ($0.inserted + changes.inserted.count, .now) }
    }
    let watching = Task { await client.watch() }
    defer {
      watching.cancel()
      withExtendedLifetime(observation) {}
    }
    let feed = try Feed(port: port, key: key)
    while stored.withLock(\.inserted) == 0 { try await Task.sleep(for: .milliseconds(10)) }
    try await Task.sleep(for: .seconds(1))
    var times: [Double] = []
    for _ in 0..<count {
      let expected = stored.withLock(\.inserted) + 1
      let start = ContinuousClock.now
      _ = try feed.publish()
      while stored.withLock(\.inserted) < expected { try await Task.sleep(for: .milliseconds(1)) }
      times.append((stored.withLock(\.at) - start) / .milliseconds(1))
      try await Task.sleep(for: .milliseconds(.random(in: 5...25)))
    }
    print(summary(of: times))
  }
}
