import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct ImportRuleTests {
  private static func record(_ id: Int, _ status: String, _ type: String = "post", password: String = "") -> String {
    """
    <item><title>t</title><guid>\(id)</guid><pubDate>Wed, 11 Nov 2025 11:00:00 +0000</pubDate>
    <description>x</description><wp:post_id>\(id)</wp:post_id><wp:status>\(status)</wp:status>
    <wp:post_type>\(type)</wp:post_type><wp:post_password>\(password)</wp:post_password></item>
    """
  }

  private static func wordpress(_ records: [String]) -> String {
    "<rss version=\"2.0\" xmlns:wp=\"http://wordpress.org/export/1.2/\"><channel><link>https://example.com/</link>"
      + records.joined() + "</channel></rss>"
  }

  @Test("Of an export of WordPress, only public posts are imported, and the rest is counted by kind")
  func wordpress() async throws {
    let text = Self.wordpress([
      Self.record(1, "publish"), Self.record(2, "draft"), Self.record(3, "private"),
      Self.record(4, "publish", password: "pw"), Self.record(5, "inherit", "attachment"), Self.record(6, "trash"),
      Self.record(7, "draft"),
    ])
    try await Installation.with { installation in
      try await withFolder(["wp.xml": text]) { folder in
        let path = folder.appending(path: "wp.xml").path
        let result = try await installation.run("import", path)
        #expect(result.status == 0)
        #expect(result.errors == "")
        #expect(
          result.output == """
            read 7, inserted 1, updated 0, unchanged 0, skipped 6 \
            (not public: attachment 1, draft 2, password 1, private 1, trash 1)

            """)
        let again = try await installation.run("import", "--json", path)
        let summary = try JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [String: Any]
        let kinds = summary?["notPublic"] as? [String: Int]
        #expect(kinds == ["attachment": 1, "draft": 2, "password": 1, "private": 1, "trash": 1], "\(again.output)")
        let guids: String = try await installation.value("SELECT string_agg(source_guid, ',') FROM items")
        #expect(guids == "1")
      }
    }
  }

  @Test("Records that are not public are counted apart for 32 kinds, and together for all others")
  func kinds() async throws {
    let names = (1...34).map { String(format: "t%02d", $0) }
    // The last one has a character that no terminal is to get.
    let records = (names + ["t34", "t\u{202E}01"]).enumerated().map { Self.record($0, "publish", $1) }
    let counts = ["other 3", "t01 2"] + names[1..<32].map { "\($0) 1" }
    try await Installation.with { installation in
      try await withFolder(["wp.xml": Self.wordpress(records)]) { folder in
        let result = try await installation.run("import", folder.appending(path: "wp.xml").path)
        #expect(
          result.output == """
            read 36, inserted 0, updated 0, unchanged 0, skipped 36 (not public: \(counts.joined(separator: ", ")))

            """)
      }
    }
  }

  private static func line(_ number: Int, _ topics: String) -> String {
    #"{"guid": "\#(number)", "date": "2026-01-01T00:00:00Z", "text": "x", "topics": [\#(topics)]}"# + "\n"
  }

  @Test("On a terminal, an import and an export show their progress, and clear it before their result")
  func progress() async throws {
    try await Installation.with { installation in
      // The file is read in two parts, so that the rest of it can be known.
      let lines = (1...6000).map { Self.line($0, "") }
      try await withFolder(["news.jsonl": lines.joined()]) { folder in
        let path = folder.appending(path: "news.jsonl").path
        let result = try await ChildProcess(
          ["-q", "-c", "'\(ChildProcess.tidings)' import '\(path)'", "/dev/null"], executable: "/usr/bin/script",
          environment: installation.environment()
        ).result()
        let clear = "\r\u{1B}[K"
        // The first page is larger than a pipe, so that it takes long enough to be shown.
        let slowReader = "{ head -c 1; sleep 0.4; cat; }"
        let counts = "read 6000, inserted 6000, updated 0, unchanged 0, skipped 0"
        #expect(result.output.contains(/\d entries, \d+ a second, \d+ %, .+ left/), "\(result.output)")
        #expect(result.output.hasSuffix("\(clear)\(counts)\r\n"), "\(result.output)")
        let exported = try await ChildProcess(
          ["-q", "-c", "'\(ChildProcess.tidings)' export | \(slowReader) > /dev/null", "/dev/null"],
          executable: "/usr/bin/script", environment: installation.environment()
        ).result()
        #expect(exported.output.contains(/\d entries, \d+ a second, \d+ %, .+ left/), "\(exported.output)")
        #expect(exported.output.hasSuffix("\(clear)exported 6000 items\r\n"), "\(exported.output)")
      }
    }
  }

  @Test("On a terminal, an import of a folder shows its progress after each write, and clears it before a report")
  func progressOfFolder() async throws {
    try await Installation.with { installation in
      let files = ["a.jsonl": Self.line(1, "") + Self.line(2, ""), "b.jsonl": "{nonsense\n" + Self.line(3, "")]
      try await withFolder(files) { folder in
        let process = try await installation.sql.transaction { transaction in
          // The import can read items, but not write them.
          _ = try await transaction.query("LOCK TABLE items IN SHARE MODE")
          let process = try ChildProcess(
            ["-q", "-c", "'\(ChildProcess.tidings)' import '\(folder.path)'", "/dev/null"],
            executable: "/usr/bin/script", environment: installation.environment())
          try await eventually("the import waits") {
            let waiting: Int = try await installation.value(
              "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
            return waiting > 0
          }
          // The line is written every 200 ms at most.
          try await Task.sleep(for: .milliseconds(300))
          return process
        }
        let output = await process.result().output
        #expect(output.contains(/\[K2 entries, \d+ a second, \d+ %, .+ left/), "\(output)")
        #expect(output.contains("\r\u{1B}[K\(folder.path)/b.jsonl: line 1: "), "\(output)")
        #expect(output.contains("read 4, inserted 3, updated 0, unchanged 0, skipped 1"), "\(output)")
      }
    }
  }

  @Test("An entry under a new name is the one that is written at the same time under its link")
  func renamed() async throws {
    let link = "<link>https://example.com/1</link>"
    // The last one is in the second chunk.
    let names = [link] + (2...260).map { "<guid>\($0)</guid>" } + ["<dc:identifier>doi:1</dc:identifier>" + link]
    let items = names.map { "<item>\($0)<title>t</title><pubDate>1 Jan 2026</pubDate></item>\n" }
    let feed = "<rss version=\"2.0\"><channel><link>https://example.com/</link>\(items.joined())</channel></rss>"
    try await Installation.with { installation in
      try await withFolder(["news.xml": feed]) { folder in
        let result = try await installation.run("import", folder.appending(path: "news.xml").path)
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        #expect(try await installation.value("SELECT count(*) FROM items") == 260)
      }
    }
  }

  @Test("A folder may have more files than a process can open")
  func manyFiles() async throws {
    try await Installation.with { installation in
      let files = (1...150).map { ("\($0).jsonl", Self.line($0, "")) }
      try await withFolder(Dictionary(uniqueKeysWithValues: files)) { folder in
        let result = try await ChildProcess(
          ["--nofile=128", ChildProcess.tidings, "import", folder.path], executable: "/usr/bin/prlimit",
          environment: installation.environment()
        ).result()
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        #expect(result.output == "read 150, inserted 150, updated 0, unchanged 0, skipped 0\n")
      }
    }
  }

  @Test("A folder inside that cannot be read is counted and fails the import, and the rest is imported")
  func unreadableFolder() async throws {
    try await Installation.with { installation in
      try await withFolder(["a.jsonl": Self.line(1, ""), "closed/b.jsonl": Self.line(2, "")]) { folder in
        let closed = folder.appending(path: "closed").path
        try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: closed)
        // Root reads any folder, unless it gives up that right.
        let rights = geteuid() == 0 ? ["--bounding-set", "-dac_override,-dac_read_search"] : []
        func importing(_ path: String) async throws -> ChildProcess.Result {
          try await ChildProcess(
            rights + [ChildProcess.tidings, "import", path], executable: "/usr/bin/setpriv",
            environment: installation.environment()
          ).result()
        }
        let result = try await importing(folder.path)
        let direct = try await importing(closed)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: closed)
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("\(closed): cannot be read: "), "\(result.errors)")
        #expect(result.output == "read 1, inserted 1, updated 0, unchanged 0, skipped 0, unreadable files 1\n")
        #expect(direct.status == 1 && direct.output == "")
        #expect(direct.errors.hasPrefix("tidings: cannot read \(closed): "), "\(direct.errors)")
      }
    }
  }

  @Test("Categories with one slug have topics of their own, and keep them in later imports")
  func topics() async throws {
    try await Installation.with { installation in
      try await withFolder(["a.jsonl": Self.line(1, #""C++", "C#", "C""#) + Self.line(2, #""Москва""#)]) { folder in
        let path = folder.appending(path: "a.jsonl").path
        #expect(try await installation.run("import", path).status == 0)
        let titles: String = try await installation.value(
          "SELECT string_agg(titles->>'und', ',' ORDER BY titles->>'und' COLLATE \"C\") FROM topics")
        #expect(titles == "C,C#,C++,Москва")
        let plain: String = try await installation.value("SELECT titles->>'und' FROM topics WHERE slug = 'c'")
        #expect(plain == "C")
        let more = Self.line(3, #""C#""#) + Self.line(4, #""Moskva""#) + Self.line(5, #""Москва""#)
        try Data(more.utf8).write(to: URL(filePath: path))
        #expect(try await installation.run("import", path).status == 0)
        #expect(try await installation.value("SELECT count(*) FROM topics") == 5)
        let topic: String = try await installation.value("SELECT topics[1] FROM items WHERE source_guid = '5'")
        #expect(topic == "moskva")
      }
    }
  }
}
