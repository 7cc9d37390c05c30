import ArgumentParser
import Foundation
import Synchronization
import TestKit

/// Readers that request many different views at a steady rate, each with equal probability.
struct Readers: ParsableArguments {
  @Option(help: "The port of the server.") var port: Int
  @Option(help: "The targets of the views, each with the place of a date: %@.") var target: [String]
  @Option(help: "The earliest and the latest of those dates, in seconds since 1970.") var date: [Double]
  @Option(help: "The number of views of each target.") var views = 1000
  @Option(help: "The number of requests per second of all readers.") var readRate = 1000

  /// The number of connections, each with its thread.
  private static let connections = 8

  /// The target of a view.
  func view(_ number: Int) -> String {
    let seconds = date[0] + (date[1] - date[0]) * Double(number / target.count) / Double(views)
    let text = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
    return target[number % target.count].replacing("%@", with: text)
  }

  /// Requests all views twice, so that the server keeps them.
  func warm() throws {
    let connection = try BlockingConnection(port: port)
    for _ in 0..<2 { for number in 0..<views * target.count { try get(view(number), connection) } }
  }

  /// Sends requests for a while.
  ///
  /// - Returns: The times in ms from the moment at which a request was due to its response.
  func read(for duration: Duration) async throws -> [Double] {
    let end = ContinuousClock.now + duration
    return try await withThrowingTaskGroup(of: [Double].self) { group in
      for _ in 0..<Self.connections { group.addTask { try await readOnThread(until: end) } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  private func readOnThread(until end: ContinuousClock.Instant) async throws -> [Double] {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try read(until: end) }) }.start()
    }
  }

  private func read(until end: ContinuousClock.Instant) throws -> [Double] {
    let connection = try BlockingConnection(port: port)
    var times: [Double] = []
    let pause = Duration.seconds(Double(Self.connections) / Double(readRate))
    var due = ContinuousClock.now
    while due < end {
      let rest = due - .now
      if rest > .zero { Thread.sleep(forTimeInterval: rest / .seconds(1)) }
      try get(view(.random(in: 0..<views * target.count)), connection)
      times.append((.now - due) / .milliseconds(1))
      // Random pauses, so that the readers do not come all at once.
      due += pause * Double.random(in: 0.5...1.5)
    }
    return times
  }

  private func get(_ target: String, _ connection: BlockingConnection) throws {
    _ = try connection.exchange("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
  }
}
