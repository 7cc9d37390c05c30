import ArgumentParser
import Foundation
import News

/// Publishes items one by one while a server wakes a device through a mock of a push service.
struct Handed: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: """
      Prints the delays in ms, one in a line, from the sending of an item to the line in the output of push-mocks that \
      names it.
      """)

  @Option(help: "The port of the server.") var port: Int
  @Option(help: "A key with the scope items:publish.") var key: String
  @Option(help: "The output of push-mocks, a file.") var output: String
  @Option(help: "The number of items.") var count = 50

  /// The longest wait for a message.
  private static let timeout = Duration.seconds(20)

  func run() throws {
    let feed = try Feed(port: port, key: key)
    let file = try FileHandle(forReadingFrom: URL(filePath: output))
    for _ in 0..<count {
      try file.seekToEnd()
      let start = ContinuousClock.now
      let id = try feed.create().item.id.uuidString.lowercased()
      var text = ""
      while !text.contains("content-id=\(id)") {
        guard .now - start < Self.timeout else { throw ValidationError("no message has followed an item") }
        usleep(500)
        text += String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      }
      print(String(format: "%.2f", (ContinuousClock.now - start) / .milliseconds(1)))
      // The server records the outcome meanwhile. The random part avoids synchronisation with periodic work.
      Thread.sleep(forTimeInterval: .random(in: 0.3...0.5))
    }
  }
}
