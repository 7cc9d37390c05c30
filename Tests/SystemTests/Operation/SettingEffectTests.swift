import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Settings whose effect clients of a running server see.
@Suite struct SettingEffectTests {
  @Test(
    "Requests within a minute end at the number for an address, and at that for a key",
    arguments: ["TIDINGS_ADDRESS_RATE", "TIDINGS_KEY_RATE"])
  func rates(name: String) async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve(changes: [name: "2", "TIDINGS_TRUSTED_PROXIES": "127.0.0.1"]) { server in
        let headers = [("X-Forwarded-For", "198.51.100.7")]
        var statuses: [Int] = []
        for _ in 1...3 {
          let written = try await server.send(
            "POST", "/v1/editorial/items", key: key, headers: headers, body: #"{"text": "x"}"#)
          statuses.append(written.status)
        }
        #expect(statuses == [201, 201, 429])
        // Readers have no key.
        let read = try await server.send("GET", "/v1/items", headers: headers)
        #expect(read.status == (name == "TIDINGS_KEY_RATE" ? 200 : 429))
      }
    }
  }

  @Test("Files and batches may have the number of MiB that the settings allow")
  func sizes() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await installation.makeKey(scopes: ["items:publish", "media:write"])
        let changes = [
          "TIDINGS_MEDIA_DIRECTORY": folder.path, "TIDINGS_MEDIA_LIMIT": "1", "TIDINGS_BATCH_LIMIT": "1",
        ]
        try await installation.serve(changes: changes) { server in
          let offer = try await server.send("OPTIONS", "/v1/editorial/media", key: key)
          #expect(offer["Upload-Limit"]?.hasPrefix("max-size=1048576,") == true)
          for (bytes, status) in [(1 << 20, 201), (1 << 20 + 1, 413)] {
            let answer = try await server.client.send(
              "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")],
              file: SampleMedia.png(bytes: bytes))
            #expect(answer.status == status)
          }
          let text = String(repeating: "x", count: 1 << 20)
          let batch = try await server.send(
            "POST", "/v1/editorial/items/batch", key: key,
            body: #"{"entries": [{"op": "create", "item": {"text": "\#(text)"}}]}"#)
          #expect(batch.status == 413)
        }
      }
    }
  }

  @Test("The description of the API is the file of the setting")
  func description() async throws {
    try await withFolder(["api.yaml": "openapi: 3.1.0\n"]) { folder in
      let changes = ["TIDINGS_OPENAPI": folder.appending(path: "api.yaml").path]
      try await Installation.with { installation in
        try await installation.serve(changes: changes) { server in
          let answer = try await server.send("GET", "/openapi.yaml")
          #expect(answer.status == 200 && answer.text == "openapi: 3.1.0\n")
        }
      }
    }
  }

  @Test("Pages have the language of the setting, or do not exist, and the feed has its title")
  func pages() async throws {
    try await Installation.with { installation in
      let settings = [
        "TIDINGS_LANGUAGE": "de", "TIDINGS_FEED_TITLE": "The harbour", "TIDINGS_PUBLIC_URL": "https://news.example",
      ]
      try await installation.serve(changes: settings) { server in
        let page = try await server.send("GET", "/")
        #expect(page.status == 200 && page.text.contains(#"lang="de""#))
        let feed = try await server.send("GET", "/feed.json")
        #expect(feed.status == 200 && feed.text.contains("The harbour"))
      }
      try await installation.serve(changes: ["TIDINGS_READER_PAGES": "false"]) { server in
        let status = try await server.status("/")
        #expect(status == 404)
      }
    }
  }
}
