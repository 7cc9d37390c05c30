import BackgroundFetch
import Foundation
import News
import NewsClient
import NewsStore
import TestKit
import TestSupport
import Testing

@Suite("tidings-fetch watch") struct WatchCommandTests {
  @Test("prints each fetch until a signal ends it, and leaves the store equal to the server")
  func watching() async throws {
    try await TestServer.with { server in
      try await Command.with(server: server.url) { command in
        _ = try await server.publish("one")
        let process = try command.start(["watch", "--json"])
        for number in 2...5 {
          _ = try await server.publish("\(number)")
          try await eventually("it is stored") { try command.storedItems().count == number }
        }
        process.send(SIGTERM)
        let result = await process.result()
        #expect(result.status == 0)
        let reports = try result.output.split(separator: "\n").map { line in
          try NewsJSON.decode(FetchReport.self, from: Data(line.utf8))
        }
        // The last item may be stored but not yet reported.
        #expect(4...5 ~= reports.map(\.inserted).reduce(0, +))
        #expect(try await command.storedItems() == server.get("/v1/items").json(ItemList.self).items)
      }
    }
  }
}
