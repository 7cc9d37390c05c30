import ArgumentParser
import Foundation

/// Publishes items one by one while a client watches.
struct Stored: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: """
      Prints median, 99th percentile and maximum in ms, from the sending of an item to the line of tidings-fetch watch \
      which reports that it is stored.
      """)

  @Option(help: "The port of the server.") var port: Int
  @Option(help: "A key with the scope items:publish.") var key: String
  @Option(help: "The number of items.") var count = 300
  @Argument(parsing: .captureForPassthrough, help: "tidings-fetch with its options, and watch --json.")
  var words: [String]

  func run() throws {
    let (client, output) = (Process(), Pipe())
    client.executableURL = URL(filePath: words[0])
    client.arguments = Array(words.dropFirst())
    client.standardOutput = output
    try client.run()
    defer {
      client.terminate()
      client.waitUntilExit()
    }
    var reports = Reports(output.fileHandleForReading)
    // The first fetch stores the items from before.
    _ = try reports.next()
    Thread.sleep(forTimeInterval: 1)
    let feed = try Feed(port: port, key: key)
    var times: [Double] = []
    for _ in 0..<count {
      let start = ContinuousClock.now
      _ = try feed.publish()
      while try reports.next().inserted == 0 {}
      times.append((.now - start) / .milliseconds(1))
      Thread.sleep(forTimeInterval: .random(in: 0.005...0.025))
    }
    print(summary(of: times))
  }

  /// The fetches that a client reports, each in a line of JSON.
  private struct Reports {
    struct Report: Decodable {
      /// The number of new items.
      var inserted: Int
    }

    private let output: FileHandle
    private var text = Data()

    init(_ output: FileHandle) { self.output = output }

    /// Waits for the next report.
    mutating func next() throws -> Report {
      while true {
        if let end = text.firstIndex(of: UInt8(ascii: "\n")) {
          defer { text = Data(text[(end + 1)...]) }
          return try JSONDecoder().decode(Report.self, from: text[..<end])
        }
        let more = output.availableData
        guard !more.isEmpty else { throw ValidationError("the client has ended") }
        text += more
      }
    }
  }
}
