import Foundation
import News
import TestKit
import TestSupport
import Testing

/// Servers that take each other's feeds.
@Suite struct FeedExchangeTests {
  /// A server and its database.
  private struct Site: Sendable {
    let installation: Installation
    let server: RunningServer
    let key: String

    static func with(_ body: @Sendable (Site) async throws -> Void) async throws {
      try await Installation.with { installation in
        let key = try await installation.makeKey()
        try await installation.serve(changes: ["TIDINGS_PUBLIC_URL": "https://\(UUID()).example"]) { server in
          try await body(Site(installation: installation, server: server, key: key))
        }
      }
    }

    func publish(_ text: String) async throws -> String {
      let body = #"{"date": "2026-01-01T00:00:00Z", "title": "\#(text)", "text": "About \#(text)"}"#
      let answer = try await server.send("POST", "/v1/editorial/items", key: key, body: body)
      return try answer.json(EditorialItem.self, status: 201).item.id.uuidString.lowercased()
    }

    func send(_ method: String, _ id: String, _ body: String? = nil) async throws {
      let answer = try await server.send(
        method, "/v1/editorial/items/" + id, key: key, headers: [("If-Match", "*")], body: body)
      #expect(answer.status < 300, "\(answer.text)")
    }

    /// The titles of the published items by their ids.
    func titles() async throws -> [String: String] {
      let items = try await server.send("GET", "/v1/items?limit=200").json(ItemList.self).items
      return Dictionary(uniqueKeysWithValues: items.map { ($0.id.uuidString.lowercased(), $0.title ?? "") })
    }

    /// Imports a feed of another site in all formats.
    func take(from other: Site) async throws {
      for format in ["json", "atom", "rss"] {
        let feed = try await other.server.send("GET", "/feed.\(format)")
        try await withFolder(["feed": feed.text]) { folder in
          let result = try await installation.run("import", folder.appending(path: "feed").path)
          #expect(result.status == 0, "\(result.errors)")
        }
      }
    }
  }

  @Test("They settle: each item is on each server once, with its id, and is corrected by its own server only")
  func settling() async throws {
    try await Site.with { first in
      try await Site.with { second in
        try await Site.with { third in
          let (one, two, gone) = (
            try await first.publish("one"), try await second.publish("two"), try await first.publish("gone")
          )
          func exchange() async throws {
            for (site, other) in [(second, first), (first, second), (third, second), (third, first), (first, third)] {
              try await site.take(from: other)
            }
          }
          try await exchange()
          let all = [one: "one", two: "two", gone: "gone"]
          for site in [first, second, third] {
            try await eventually("all items are there") { try await site.titles() == all }
          }
          try await first.send("PATCH", one, #"{"title": "corrected"}"#)
          try await first.send("DELETE", gone)
          try await exchange()
          try await exchange()
          try await eventually("the correction has arrived") { try await second.titles()[one] == "corrected" }
          #expect(try await first.titles() == [one: "corrected", two: "two"])
          let counters = try await [first, second, third].asyncMap { try await $0.installation.counter() }
          try await exchange()
          #expect(try await [first, second, third].asyncMap { try await $0.installation.counter() } == counters)
          #expect(try await second.titles().count == 3)
        }
      }
    }
  }
}

extension Array {
  fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}
