import ArgumentParser
import Foundation
import News
import Synchronization
import TestKit

/// Publishes items one by one at one process, and polls another process until each is visible there.
struct Propagation: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Prints the median, 99th percentile and maximum of the delay from acknowledgement to visibility, in milliseconds."
  )

  @Option(help: "The port of the server that receives the items.") var from: Int
  @Option(help: "The port of the server that is polled.") var to: Int
  @Option(help: "A key with the scope items:publish.") var key: String
  @Option(help: "The number of items.") var count = 300
  @Option(help: "The rate of other requests to the polled server, per second.") var rate = 0

  func run() throws {
    let load = Load(port: to, rate: rate)
    defer { load.end() }
    let (writer, reader) = (try Feed(port: from, key: key), try Feed(port: to))
    var times: [Double] = []
    for _ in 0..<count {
      let version = try writer.publish()
      let acknowledged = ContinuousClock.now
      // Polling without a pause would take processor time from the measured processes.
      while try reader.token().version < version { usleep(200) }
      times.append((.now - acknowledged) / .milliseconds(1))
      // A random pause avoids synchronisation with periodic work.
      Thread.sleep(forTimeInterval: .random(in: 0.005...0.025))
    }
    print(summary(of: times))
  }
}

/// Sends state requests at a steady rate from one thread. Every millisecond, the requests that are due go out, each on
/// a connection of its own.
final class Load: Sendable {
  private let isOver = Atomic(false)

  init(port: Int, rate: Int) {
    guard rate > 0 else { return }
    let thread = Thread { [self] in
      let connections = (0..<max(1, rate / 1000)).compactMap { _ in try? BlockingConnection(port: port) }
      let pause = Double(connections.count) / Double(rate)
      let request = "GET /v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n"
      var due = Date()
      while !isOver.load(ordering: .relaxed) {
        do {
          for connection in connections { try connection.send(request) }
          for connection in connections { _ = try connection.response() }
        } catch {
          return
        }
        due += pause
        Thread.sleep(until: due)
      }
    }
    thread.start()
  }

  func end() { isOver.store(true, ordering: .relaxed) }
}
