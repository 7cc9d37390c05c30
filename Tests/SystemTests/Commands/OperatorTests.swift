import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Operator commands beside a running server.
@Suite struct OperatorTests {
  @Test("A purge removes old removals, and expires earlier tokens")
  func purge() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve { server in
        let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#
        let made = try await server.send("POST", "/v1/editorial/items", key: key, body: body)
        let item = try made.json(EditorialItem.self, status: 201).item
        let token = try #require(try await server.send("GET", "/v1/changes")["Sync-Token"])
        _ = try await server.client.send(
          "DELETE", "/v1/editorial/items/\(item.id.uuidString.lowercased())", key: key, headers: [("If-Match", "*")])

        let young = try await installation.run("purge", "--older-than", "1d")
        #expect(young.status == 0)
        #expect(young.output == "0 removals purged\n")
        #expect(try await server.send("GET", "/v1/changes?since=\(token)").status == 200)
        let old = try await installation.run("purge", "--older-than", "0s")
        #expect(old.status == 0)
        #expect(old.output == "1 removal purged\n")
        try await eventually("the token has expired") {
          try await server.send("GET", "/v1/changes?since=\(token)").status == 410
        }
      }
    }
  }

  @Test(
    "The longest and the shortest age work",
    arguments: ["0", "0s", "142857w", "1000000s", "1000000m", "1000000h", "1000000d"])
  func extremeAge(age: String) async throws {
    try await Installation.with { installation in
      try await withFolder([:]) { folder in
        let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.path]
        let result = try await installation.run(
          "purge", "--older-than", age, "--media-unused-for", age, changes: changes)
        #expect(result.status == 0, "\(result.errors)")
      }
    }
  }

  @Test(
    "An age is a whole number with a unit",
    arguments: ["1", "00", "1x", "9999999w", "-1d", "1.5h", "d", "9999999d", ""])
  func badAge(age: String) async throws {
    try await Installation.with { installation in
      let result = try await installation.run("purge", "--older-than", age)
      #expect(result.status == 64)
      #expect(result.errors.contains("--older-than"))
    }
  }

  @Test("After a new epoch, every client must request the snapshot")
  func newEpoch() async throws {
    try await Installation.with { installation in
      try await installation.serve { server in
        let token = try #require(try await server.send("GET", "/v1/changes")["Sync-Token"])
        #expect(try await server.send("GET", "/v1/changes?since=\(token)").status == 200)
        let cut = try await installation.run("epoch", "new")
        #expect(cut.status == 0)
        try await eventually("the token has expired") {
          try await server.send("GET", "/v1/changes?since=\(token)").status == 410
        }
        let shown = try await installation.run("epoch", "show")
        #expect(shown.status == 0)
        let epochs = shown.output.split(separator: "\n").map { $0.split(separator: "\t").map { String($0) } }
        #expect(epochs.first?.first == cut.output.trimmingCharacters(in: .newlines))
        #expect(epochs.first?.last == "begins anew")
        #expect(epochs.dropFirst().contains { SyncToken(token)?.epoch == $0.first })
      }
    }
  }
}
