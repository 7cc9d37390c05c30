import ArgumentParser
import Foundation

/// Publishes an item every second while readers use many views.
struct Views: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints median, 99th percentile and maximum of the readers' response times in ms.")

  @OptionGroup var readers: Readers
  @Option(help: "A key with the scope items:publish.") var key: String
  @Option(help: "The topics of the items that are published.") var topics: String
  @Option(help: "The number of items, one per second.") var count = 10

  func run() async throws {
    try readers.warm()
    async let times = readers.read(for: .seconds(count))
    let feed = try Feed(port: readers.port, key: key)
    for _ in 0..<count {
      _ = try feed.publish(topics: topics.split(separator: ",").map(String.init))
      try await Task.sleep(for: .seconds(1))
    }
    print(summary(of: try await times))
  }
}
