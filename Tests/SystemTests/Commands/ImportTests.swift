import Foundation
import News
import PostgresClient
import TestSupport
import Testing

@Suite struct ImportTests {
  /// The counts that `--json` prints.
  struct Counts: Equatable, Decodable {
    var read = 0
    var inserted = 0
    var updated = 0
    var unchanged = 0
    var skipped = 0
  }

  /// Imports a path, which must be a feed or a folder, and returns the counts.
  private func counts(
    _ installation: Installation, _ path: String, input: String = "/dev/null"
  ) async throws -> Counts {
    let result = try await installation.run("import", "--json", path, input: input)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.hasSuffix("}\n") && result.output.count { $0 == "\n" } == 1)
    return try JSONDecoder().decode(Counts.self, from: Data(result.output.utf8))
  }

  private static func line(_ number: Int, date: String = "2026-01-01T00:00:00Z", text: String = "x") -> String {
    #"{"guid": "\#(number)", "date": "\#(date)", "text": "\#(text)", "topics": ["Local News"]}"# + "\n"
  }

  private static let lines = (1...3).map { line($0) }.joined()

  @Test("A second import of a file changes nothing and takes no version")
  func file() async throws {
    try await Installation.with { installation in
      try await withFolder(["news.jsonl": Self.lines]) { folder in
        let path = folder.appending(path: "news.jsonl").path
        let first = try await installation.run("import", path)
        #expect(first.status == 0)
        #expect(first.output == "read 3, inserted 3, updated 0, unchanged 0, skipped 0\n")
        #expect(first.errors == "")
        #expect(try await installation.counter() == 3)
        #expect(try await installation.value("SELECT items FROM scopes WHERE scope = 'local-news'") == 3)
        #expect(try await counts(installation, path) == Counts(read: 3, unchanged: 3))
        #expect(try await installation.counter() == 3)
        try Data((Self.line(1, text: "y") + Self.line(4)).utf8).write(to: URL(filePath: path))
        #expect(try await counts(installation, path) == Counts(read: 2, inserted: 1, updated: 1))
        #expect(try await installation.counter() == 5)
      }
    }
  }

  @Test("Of several entries with the same id the last one wins, however far apart they are")
  func repeatedEntries() async throws {
    // Chunks of 250 entries are written at the same time.
    var lines = (1...1200).map { Self.line($0) }
    for (position, number) in [(260, 1), (400, 2), (540, 3), (800, 1), (1100, 3)] {
      lines[position] = Self.line(number, text: "from \(position)")
    }
    let file = lines.joined()
    try await Installation.with { installation in
      try await withFolder(["news.jsonl": file]) { folder in
        let counts = try await counts(installation, folder.appending(path: "news.jsonl").path)
        #expect(counts == Counts(read: 1200, inserted: 1195, updated: 5))
        #expect(try await installation.counter() == 1200)
        for (position, number) in [(800, 1), (400, 2), (1100, 3)] {
          let text: String = try await installation.value(
            "SELECT text FROM items WHERE source_guid = \("\(number)")")
          #expect(text == "from \(position)")
        }
      }
    }
  }

  @Test("Standard input is a file like any other")
  func standardInput() async throws {
    try await Installation.with { installation in
      try await withFolder(["news.jsonl": Self.lines, "readme.txt": "no feed at all"]) { folder in
        let path = folder.appending(path: "news.jsonl").path
        let first = try await counts(installation, "-", input: path)
        #expect(first == Counts(read: 3, inserted: 3))
        #expect(try await counts(installation, path) == Counts(read: 3, unchanged: 3))
        let text = folder.appending(path: "readme.txt").path
        let broken = try await installation.run("import", "-", input: text)
        #expect(broken.status == 1 && broken.errors.hasPrefix("standard input: line 1: "), "\(broken.errors)")
      }
    }
  }

  @Test("A folder is imported recursively; files that are not feeds are reported, hidden files are not read")
  func folder() async throws {
    try await Installation.with { installation in
      let files = [
        "a.jsonl": Self.line(1), "below/b.jsonl": Self.line(2), "readme.txt": "no feed at all",
        ".hidden.jsonl": Self.line(3), ".git/c.jsonl": Self.line(4),
      ]
      try await withFolder(files) { folder in
        // Neither links to folders nor pipes are followed, which may have no end.
        try FileManager.default.createSymbolicLink(
          atPath: folder.appending(path: "linked").path, withDestinationPath: "below")
        #expect(mkfifo(folder.appending(path: "pipe").path, 0o600) == 0)
        let result = try await installation.run("import", "--json", folder.path + "/")
        #expect(result.status == 0)
        #expect(result.errors.hasPrefix("\(folder.path)/readme.txt: line 1: "), "\(result.errors)")
        #expect(!result.errors.contains(".jsonl"))
        let counts = try JSONDecoder().decode(Counts.self, from: Data(result.output.utf8))
        #expect(counts == Counts(read: 2, inserted: 2))
      }
    }
  }

  @Test("An import that the database refuses ends with the reason, once all that it was writing is stored")
  func refusedEntries() async throws {
    try await Installation.with { installation in
      _ = try await installation.sql.query("ALTER TABLE items ADD CONSTRAINT items_refused CHECK (text <> 'refused')")
      // The second of three chunks.
      let lines = (1...600).map { Self.line($0, text: $0 == 300 ? "refused" : "x") }
      try await withFolder(["news.jsonl": lines.joined()]) { folder in
        let result = try await installation.run("import", "--json", folder.appending(path: "news.jsonl").path)
        #expect(result.status == 1)
        #expect(result.errors.contains("tidings: "), "\(result.errors)")
        let data = Data(result.output.utf8)
        #expect(try JSONDecoder().decode(Counts.self, from: data) == Counts(read: 600, inserted: 350))
        let summary = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        #expect((summary?["error"] as? String)?.isEmpty == false, "\(result.output)")
        #expect(try await installation.value("SELECT count(*) FROM items") == 350)
        // The counts are reported in any form.
        let again = try await installation.run("import", folder.appending(path: "news.jsonl").path)
        #expect(again.status == 1)
        #expect(again.output == "read 600, inserted 0, updated 0, unchanged 350, skipped 0\n", "\(again.errors)")
      }
    }
  }

  @Test("A file that the system refuses to read is reported")
  func unreadable() async throws {
    try await Installation.with { installation in
      // A regular file that can be opened but not read, because its first page is unmapped.
      let result = try await installation.run("import", "/proc/self/mem")
      #expect(result.status == 1)
      #expect(result.errors == "/proc/self/mem: cannot be read: input/output error\n")
      #expect(result.output == "read 0, inserted 0, updated 0, unchanged 0, skipped 0, unreadable files 1\n")
    }
  }

  @Test("Malformed entries are reported with file and position, and the rest is imported")
  func brokenEntries() async throws {
    try await Installation.with { installation in
      let text =
        Self.line(1) + "{nonsense\n" + Self.line(2, date: "yesterday") + #"{"guid": "3", "text": "x"}"# + "\n"
        + Self.line(4, text: "") + Self.line(5)
      try await withFolder(["news.jsonl": text]) { folder in
        let path = folder.appending(path: "news.jsonl").path
        let result = try await installation.run("import", "--json", path)
        #expect(result.status == 0)
        let reports = result.errors.split(separator: "\n")
        #expect(reports.count == 4)
        for (report, line) in zip(reports, 2...5) { #expect(report.hasPrefix("\(path): line \(line): ")) }
        let counts = try JSONDecoder().decode(Counts.self, from: Data(result.output.utf8))
        #expect(counts == Counts(read: 6, inserted: 2, skipped: 4))
      }
    }
  }

  private static func feed(_ items: String, before: String = "") -> String {
    before + "<rss version=\"2.0\"><channel><link>https://example.com/</link>\n\(items)\n</channel></rss>"
  }

  private static func item(_ name: String, _ extra: String = "") -> String {
    "<item><guid>\(name)</guid><pubDate>1 Jan 2026</pubDate><title>\(name)</title><description>\(name)</description>\(extra)</item>"
  }

  @Test("Of a folder of malformed files, complete entries are imported, and the rest is reported with its position")
  func brokenFolder() async throws {
    let bomb = "<!DOCTYPE rss [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\"><!ENTITY f SYSTEM \"file:///etc/passwd\">]>"
    let files = [
      "ampersand.xml": Self.feed(Self.item("ampersand 1", "A && B &x;") + "\n" + Self.item("ampersand 2")),
      "bomb.xml": Self.feed(
        Self.item("bomb 1", "&b;") + "\n" + Self.item("bomb 2", "&f;") + Self.item("bomb 3"), before: bomb),
      "cut.xml": String(Self.feed(Self.item("cut 1") + "\n" + Self.item("cut 2")).dropLast(60)), "empty.xml": "",
      "json.json": "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{", "nul.xml": "\0\0\0\0",
      "page.xml": "<!DOCTYPE html><html><body>Not found</body></html>",
      "twice.xml": Self.feed(Self.item("twice") + "\n" + Self.item("twice")),
      "unclosed.xml": Self.feed(Self.item("unclosed 1").dropLast(7) + "\n" + Self.item("unclosed 2")),
    ]
    try await Installation.with { installation in
      try await withFolder(files) { folder in
        let latin = try #require(Self.feed(Self.item("caf\u{E9}")).data(using: .isoLatin1))
        try latin.write(to: folder.appending(path: "latin.xml"))
        let result = try await installation.run("import", "--json", folder.path)
        #expect(result.status == 0)
        let reports = result.errors.split(separator: "\n").map { $0.dropFirst(folder.path.count + 1) }
        let places = [
          "ampersand.xml: line 2: ", "ampersand.xml: line 2: ", "bomb.xml: line 2: ", "bomb.xml: line 3: ",
          "cut.xml: line 3: ",
          "empty.xml: line 1: ",
          "json.json: line 1: ", "latin.xml: line 2: ", "nul.xml: line 1: ", "page.xml: line 1: ",
          "twice.xml: line 3: ",
          "unclosed.xml: line 2: ",
        ]
        #expect(reports.count == places.count, "\(reports)")
        for (report, place) in zip(reports, places) { #expect(report.hasPrefix(place)) }
        let counts = try JSONDecoder().decode(Counts.self, from: Data(result.output.utf8))
        #expect(counts == Counts(read: 11, inserted: 7, skipped: 4))
        #expect(
          try await installation.value("SELECT count(*) FROM items WHERE title = text AND title = source_guid") == 7)
        #expect(try await installation.value("SELECT count(*) FROM items WHERE text = 'caf\u{E9}'") == 1)
        #expect(try await self.counts(installation, folder.path) == Counts(read: 11, unchanged: 7, skipped: 4))
      }
    }
  }

  @Test("A truncated feed fails, and its complete entries are imported")
  func cutOff() async throws {
    try await Installation.with { installation in
      let text = """
        <rss version="2.0"><channel><title>t</title><link>https://example.com/</link>
        <item><guid>1</guid><pubDate>Thu, 01 Jan 2026 00:00:00 GMT</pubDate><description>x</description></item>
        <item><gu
        """
      try await withFolder(["news.xml": text]) { folder in
        let path = folder.appending(path: "news.xml").path
        let result = try await installation.run("import", "--json", path)
        #expect(result.status > 0)
        #expect(result.errors.hasPrefix("\(path): line 3: "), "\(result.errors)")
        let counts = try JSONDecoder().decode(Counts.self, from: Data(result.output.utf8))
        #expect(counts == Counts(read: 1, inserted: 1))
      }
    }
  }

  @Test("A file that is not a feed fails, and so does a missing file")
  func noFeed() async throws {
    try await Installation.with { installation in
      let files = [
        "readme.txt": "no feed at all", "page.html": "<html><body>no</body></html>",
        // The rest, which is read after it, does not make it a feed.
        "list.json": "[" + String(repeating: " ", count: 300_000),
      ]
      try await withFolder(files) { folder in
        for name in files.keys {
          let path = folder.appending(path: name).path
          let result = try await installation.run("import", path)
          #expect(result.status > 0)
          #expect(result.errors.hasPrefix("\(path): line 1: "), "\(result.errors)")
        }
        let nowhere = folder.appending(path: "nowhere.xml").path
        let result = try await installation.run("import", nowhere)
        #expect(result.status > 0)
        #expect(result.output == "")
        #expect(result.errors == "tidings: there is no file \(nowhere)\n")
        let counted = try await installation.run("import", "--json", nowhere)
        #expect(counted.status == 1 && counted.output.contains("\"error\":"), "\(counted.output)")
        #expect(counted.output.contains("\"read\":0") && counted.output.contains(nowhere), "\(counted.output)")
        let inside = folder.appending(path: "readme.txt/news.xml").path
        let refused = try await installation.run("import", inside)
        #expect(refused.status == 1)
        #expect(refused.errors == "tidings: cannot read \(inside): not a directory\n")
      }
    }
  }

  @Test("A folder that may not be listed fails with the reason", .enabled(if: getuid() == 0))
  func unlistedFolder() async throws {
    try await Installation.with { installation in
      try await withFolder(["news.jsonl": Self.lines]) { folder in
        #expect(chmod(folder.path, 0) == 0)
        let words = ["--reuid=65534", "--regid=65534", "--clear-groups", ChildProcess.tidings, "import", folder.path]
        let refused = try await ChildProcess(
          words, executable: "/usr/bin/setpriv", environment: installation.environment()
        ).result()
        #expect(refused.status == 1)
        #expect(refused.errors == "tidings: cannot read \(folder.path): permission denied\n")
      }
    }
  }

  @Test("A date in the future is replaced by the current time and reported; a second import changes nothing")
  func futureDate() async throws {
    try await Installation.with { installation in
      try await withFolder(["news.jsonl": Self.line(1, date: "2999-12-31T00:00:00Z")]) { folder in
        let path = folder.appending(path: "news.jsonl").path
        let result = try await installation.run("import", "--json", path)
        #expect(result.status == 0)
        #expect(result.errors.contains("2999-12-31"))
        #expect(result.errors.hasPrefix("\(path): "))
        #expect(try await installation.value("SELECT date <= clock_timestamp() FROM items"))
        #expect(try await counts(installation, path) == Counts(read: 1, unchanged: 1))
        #expect(try await installation.counter() == 1)
      }
    }
  }

  @Test("Entries without a date are skipped, or take the time of their first import and keep it")
  func missingDate() async throws {
    try await Installation.with { installation in
      let items = (1...3).map { "<item><guid>\($0)</guid><title>Headline \($0)</title></item>\n" }
      try await withFolder(["ticker.xml": Self.feed(items.joined())]) { folder in
        let path = folder.appending(path: "ticker.xml").path
        let skipped = try await installation.run("import", path)
        #expect(skipped.output == "read 3, inserted 0, updated 0, unchanged 0, skipped 3\n")
        #expect(skipped.errors.contains("ticker.xml: line 2: has no date"))
        let first = try await installation.run("import", "--missing-date", "now", path)
        #expect(first.output == "read 3, inserted 3, updated 0, unchanged 0, skipped 0\n")
        #expect(first.errors == "")
        #expect(
          try await installation.value("SELECT string_agg(text, ',' ORDER BY date DESC) FROM items")
            == "Headline 1,Headline 2,Headline 3")
        let dates: PostgresQuery = "SELECT string_agg(id || ' ' || date, ',' ORDER BY id) FROM items"
        let before: String = try await installation.value(dates)
        let second = try await installation.run("import", "--missing-date", "now", path)
        #expect(second.output == "read 3, inserted 0, updated 0, unchanged 3, skipped 0\n")
        #expect(try await installation.counter() == 3)
        try Data(Self.feed(items[0].replacing("Headline", with: "News")).utf8).write(to: URL(filePath: path))
        let third = try await installation.run("import", "--missing-date", "now", path)
        #expect(third.output == "read 1, inserted 0, updated 1, unchanged 0, skipped 0\n")
        #expect(try await installation.value(dates) == before)
        #expect(try await installation.value("SELECT count(*) FROM items WHERE text = 'News 1'") == 1)
        let wrong = try await installation.run("import", "--missing-date", "yesterday", path)
        #expect(wrong.status == 64)
      }
    }
  }

  @Test("The samples are imported completely")
  func samples() async throws {
    try await Installation.with { installation in
      let path = Project.root.appending(path: "Samples").path
      let result = try await installation.run("import", "--json", path)
      #expect(result.status == 0)
      #expect(result.errors == "")
      let counts = try JSONDecoder().decode(Counts.self, from: Data(result.output.utf8))
      #expect(counts.read > 0)
      #expect(counts == Counts(read: counts.read, inserted: counts.read))
    }
  }

  @Test("Files of a folder that cannot be read are counted and fail the import, and the rest is imported")
  func unreadableFiles() async throws {
    try await Installation.with { installation in
      let feed = "<rss version='2.0'><channel><title>x</title><item><guid>1</guid><title>a</title></item>"
      try await withFolder(["a.jsonl": Self.line(1), "cut.xml": feed, "readme.txt": "no feed"]) { folder in
        for (name, target) in [
          ("loop", "loop"), ("gone", "nowhere"), ("memory", "/proc/self/mem"), ("b.jsonl", "a.jsonl"),
        ] {
          try FileManager.default.createSymbolicLink(
            atPath: folder.appending(path: name).path, withDestinationPath: target)
        }
        let result = try await installation.run("import", "--json", folder.path)
        #expect(result.status == 1)
        let counts = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        #expect(counts?["unreadable"] as? Int == 3, "\(result.output)\(result.errors)")
        #expect(counts?["inserted"] as? Int == 1)
        #expect(counts?["unchanged"] as? Int == 1)
        for name in ["loop: cannot be read: ", "gone: cannot be read: ", "memory: cannot be read: ", "cut.xml: "] {
          #expect(result.errors.contains(name), "\(result.errors)")
        }
        let text = try await installation.run("import", folder.path)
        #expect(text.output.hasSuffix(", unreadable files 3\n"), "\(text.output)")
        for path in ["memory", "loop", "gone"].map({ folder.appending(path: $0).path }) {
          let single = try await installation.run("import", path)
          #expect(single.status == 1)
          #expect(single.errors.contains(path), "\(single.errors)")
        }
      }
    }
  }

  @Test("Names and texts of files are printed without control characters")
  func hostileNames() async throws {
    let hostile = "a\u{1B}[2J\nfake\u{202E}"
    let guid = #"a\u001b[2J\nfake\u202e"#
    let line = #"{"guid": "\#(guid)", "date": "2999-12-31T00:00:00Z", "text": "x"}"# + "\n{nonsense\n"
    try await Installation.with { installation in
      try await withFolder(["\(hostile).jsonl": line]) { folder in
        let path = folder.appending(path: "\(hostile).jsonl").path
        let imported = try await installation.run("import", path)
        let reports = imported.errors.split(separator: "\n").map(String.init)
        #expect(reports.count == 2, "\(reports)")
        #expect(reports.first?.hasPrefix("\(path.terminalSafe): a[2J fake: ") == true, "\(reports)")
        #expect(reports.allSatisfy { $0.terminalSafe == $0 }, "\(reports)")
        let missing = try await installation.run("import", path + ".gone")
        #expect(missing.errors == "tidings: there is no file \(path.terminalSafe).gone\n", "\(missing.errors)")
      }
    }
  }
}
