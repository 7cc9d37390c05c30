import ArgumentParser
import Foundation
import News
import TestKit

/// Takes the snapshot page by page, as fast as the server sends it.
struct Snapshot: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the seconds that the snapshot takes, and the number of its pages.")

  @Option(help: "The port of the server.") var port: Int
  @Option(help: "The maximum number of items of a page.") var limit = 1000

  func run() throws {
    let connection = try BlockingConnection(port: port)
    let start = ContinuousClock.now
    var pages = 0
    var since = ""
    while true {
      let body = try connection.exchange(
        "GET /v1/changes?limit=\(limit)\(since) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      pages += 1
      // Decoding the page would take longer than to send it. These fields are at its end.
      let end = String(decoding: body.suffix(200), as: UTF8.self)
      guard let token = end.firstMatch(of: /"token":"([^"]+)"/) else { throw ValidationError("a page has no token") }
      guard end.contains(#""more":true"#) else { break }
      since = "&since=\(token.1)"
    }
    print(String(format: "%.3f %d", (.now - start) / .seconds(1), pages))
  }
}
