import ArgumentParser
import Foundation

/// Publishes items at two servers in turn.
struct Commits: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the medians in ms of the times that two servers take to publish an item, and their ratio.")

  @Option(help: "The ports of the servers.") var port: [Int]
  @Option(help: "Keys of the servers with the scope items:publish.") var key: [String]
  @Option(help: "The number of items for each server.") var count = 300

  /// The number of items before the measurement.
  private static let warmUp = 20

  func validate() throws {
    guard port.count == 2, key.count == 2 else { throw ValidationError("two ports and two keys are needed") }
  }

  func run() throws {
    let feeds = try zip(port, key).map { try Feed(port: $0, key: $1) }
    var times: [[Double]] = [[], []]
    for round in 0..<(Self.warmUp + count) {
      // Each server is the first one in half of the rounds.
      for index in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
        let start = ContinuousClock.now
        _ = try feeds[index].publish()
        if round >= Self.warmUp { times[index].append((.now - start) / .milliseconds(1)) }
      }
      // A random pause avoids synchronisation with periodic work.
      Thread.sleep(forTimeInterval: .random(in: 0.005...0.025))
    }
    let medians = times.map { $0.sorted()[count / 2] }
    print((medians + [medians[1] / medians[0]]).map { String(format: "%.2f", $0) }.joined(separator: " "))
  }
}
