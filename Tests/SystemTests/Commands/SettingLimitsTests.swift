import Foundation
import TestSupport
import Testing

/// Settings at their extremes: each number either works or is refused at the start. Operators use 0 to mean "never".
@Suite struct SettingLimitsTests {
  private static let ranges: [(name: String, lowest: Int, highest: Int)] = [
    ("TIDINGS_SHARED_MAX_AGE", 1, 3600), ("TIDINGS_CACHE_SIZE", 0, 65_536), ("TIDINGS_PURGE_AFTER", 0, 36_500),
    ("TIDINGS_BATCH_LIMIT", 1, 256), ("TIDINGS_MEDIA_LIMIT", 1, 1_048_576), ("TIDINGS_MEDIA_UNUSED_AFTER", 1, 36_500),
    ("TIDINGS_ADDRESS_RATE", 0, 1_000_000_000), ("TIDINGS_KEY_RATE", 0, 1_000_000_000),
    ("TIDINGS_SLOW_REQUEST", 0, 3_600_000), ("TIDINGS_POOL_SIZE", 2, 1000), ("TIDINGS_STALE_LIMIT", 0, 86_400),
    ("TIDINGS_PORT", 0, 65_535), ("TIDINGS_FEED_ITEMS", 1, 500),
    ("TIDINGS_PUSH_WINDOW", 0, 3600), ("TIDINGS_PUSH_BUDGET", 1, 60), ("TIDINGS_DEVICE_LIMIT", 0, 100_000_000),
    ("TIDINGS_DEVICE_RATE", 0, 1_000_000),
  ]

  @Test("A server works with all numbers at their lowest, and with all at their highest", arguments: [true, false])
  func extremes(isLowest: Bool) async throws {
    try await Installation.with { installation in
      let made = try await installation.run(
        "keys", "create", "--name", "desk", "--scope", "items:publish", "media:write")
      let key = made.output.trimmingCharacters(in: .newlines)
      try await withFolder(["files/empty": ""]) { folder in
        var changes = ["TIDINGS_MEDIA_DIRECTORY": folder.appending(path: "files").path]
        for range in Self.ranges where range.name != "TIDINGS_PORT" {
          changes[range.name] = "\(isLowest ? range.lowest : range.highest)"
        }
        try await installation.serve(changes: changes) { server in
          let body = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#
          for _ in 0..<3 {
            let written = try await server.send("POST", "/v1/editorial/items", key: key, body: body)
            #expect(written.status == 201)
            for path in ["/v1/items", "/v1/items?limit=7", "/v1/items?q=x", "/v1/changes", "/readyz", "/metrics"] {
              let status = try await server.status(path)
              #expect(status == 200, "\(path)")
            }
          }
          let upload = try await server.client.send(
            "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")], file: SampleMedia.png())
          #expect(upload.status == 201)
        }
      }
    }
  }

  @Test("A number beyond its range, or beyond any integer, is refused by its name")
  func beyond() async throws {
    try await Installation.with { installation in
      for range in Self.ranges {
        for value in ["\(range.lowest - 1)", "\(range.highest + 1)", "\(Int.max)", "9223372036854775808", "1e3"] {
          let result = try await installation.run("serve", changes: [range.name: value])
          #expect(result.status == 78 && result.output == "", "\(range.name)=\(value)")
          let rule = "\(range.lowest) to \(range.highest)"
          #expect(
            result.errors.contains(range.name) && result.errors.contains(rule),
            "\(range.name)=\(value): \(result.errors)")
        }
      }
    }
  }
}
