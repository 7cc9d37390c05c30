import FaultServer
import Foundation
import News
import TestSupport
import Testing

@Suite("tidings-fetch as a reader") struct ReadingCommandTests {
  private static let date = Date(timeIntervalSince1970: 1_767_225_600)

  private static let long = "Ferries stop until the afternoon. " + String(repeating: "Ebb and flood 潮位. ", count: 60)

  /// Runs the body with a store that has fetched three items: a breaking one, one in Japanese, and a hostile one.
  private func with(_ body: @Sendable (Command, FaultFeed) async throws -> Void) async throws {
    let feed = FaultFeed()
    var first = NewsItem(
      id: try #require(UUID(uuidString: "01900000-0000-7000-8000-0000000abc01")), version: 0, date: Self.date,
      text: Self.long + "\n\nSecond paragraph",
      title: "High water at the harbour stops the ferries until the afternoon",
      topics: ["harbour", "traffic"], updated: Self.date)
    (first.breaking, first.url, first.author) = (true, "https://news.example/1?a=b&c", "Ida \u{1B}[31mMöller")
    var second = NewsItem(
      id: try #require(UUID(uuidString: "01900000-0000-7000-8000-0000000abc02")), version: 0, date: Self.date + 60,
      text: "text", title: "港の水位が上昇しフェリーは午後まで運休する見込みです", topics: ["harbour"], updated: Self.date)
    second.url = "javascript:alert(1)"
    let third = NewsItem(
      id: try #require(UUID(uuidString: "01900000-0000-7000-8000-0000000abc03")), version: 0, date: Self.date + 120,
      text: "only text\nmore", updated: Self.date)
    feed.publish([first, second, third])
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.fetch().status == 0)
        try await body(command, feed)
      }
    }
  }

  @Test("lists ids, marks, dates, titles and topics, whole in a pipe")
  func list() async throws {
    try await with { command, _ in
      let list = try await command.run("list")
      #expect(
        list.output == """
          0abc03 N  2026-01-01 00:02  only text
          0abc02 N  2026-01-01 00:01  港の水位が上昇しフェリーは午後まで運休する見込みです  (harbour)
          0abc01 N! 2026-01-01 00:00  High water at the harbour stops the ferries until the afternoon  (harbour, traffic)

          """)
      #expect(try await command.run("list", "--topic", "traffic,sport", "--count").output == "1\n")
      #expect(try await command.run("list", "--breaking").output.hasPrefix("0abc01"))
      #expect(try await command.run("list", "--since", "2026-01-01T00:01:30.000Z", "--count").output == "1\n")
      #expect(try await command.run("list", "--since", "2026-01-01", "--count").output == "3\n")
      #expect(try await command.run("list", "--since", "1d", "--count").output == "0\n")
      #expect(try await command.run("list", "--since", "2026-02-31").status == 64)
      #expect(try await command.run("list", "--limit", "1", "--json").output.contains(#""unread":true"#))
      #expect(try await command.items().count == 3)
    }
  }

  @Test("marks items as read and unread by abbreviated ids, which the badge follows")
  func marks() async throws {
    try await with { command, _ in
      #expect(try await command.run("read", "0abc01", "01900000-0000-7000-8000-0000000abc02").status == 0)
      #expect(try await command.run("badge").output == "1\n")
      #expect(try await command.run("list", "--unread").output.hasPrefix("0abc03 N "))
      #expect(try await command.run("list").output.contains("0abc02    2026"))
      #expect(try await command.run("unread", "ABC02").status == 0)
      #expect(try await command.run("list", "--unread", "--count").output == "2\n")
      #expect(try await command.run("read", "--all").status == 0)
      #expect(try await command.run("list", "--unread", "--count").output == "0\n")
      let ambiguous = try await command.run("read", "0190")
      #expect(ambiguous.status == 20)
      #expect(ambiguous.errors.hasPrefix("tidings-fetch: '0190' is ambiguous: it may be 0190"), "\(ambiguous.errors)")
      for words in [["read"], ["read", "--all", "0abc01"], ["read", "xyz1"], ["read", "abc"]] {
        let result = try await command.start(words).result()
        #expect(result.status == 64 && result.errors.contains("Error: "), "\(words)")
      }
      let missing = try await command.run("show", "ffff")
      #expect(missing.status == 20 && missing.errors.hasPrefix("tidings-fetch: no stored item"), "\(missing.errors)")
    }
  }

  @Test("searches what is stored, without a request")
  func search() async throws {
    let feed = FaultFeed()
    feed.publish("text", title: "Zürich floods")
    feed.publish("text", title: "Dry")
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        let fetch = try await command.fetch()
        #expect(fetch.status == 0)
        let requests = server.requests.count
        #expect(try await command.run("search", "zurich", "flood").output.hasSuffix("  Zürich floods\n"))
        #expect(try await command.run("search", "dry", "--count").output == "1\n")
        #expect(try await command.run("search", "flood", "dry").output == "")
        #expect(try await command.run("search", "--", "--").status == 64)
        #expect(server.requests.count == requests)
      }
    }
  }

  @Test("shows an item whole in a pipe, without terminal sequences, and marks it as read")
  func show() async throws {
    try await with { command, _ in
      let result = try await command.run("show", "0abc01", "--no-mark")
      let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines[0] == "High water at the harbour stops the ferries until the afternoon")
      #expect(lines[1] == "2026-01-01 00:00  breaking  harbour, traffic  by Ida [31mMöller")
      #expect(lines[2] == "https://news.example/1?a=b&c")
      #expect(lines[4] == Self.long[...])
      #expect(lines.dropLast().last == "id 01900000-0000-7000-8000-0000000abc01")
      #expect(try await command.run("badge").output == "3\n")
      #expect(try await command.run("show", "0abc03").output.hasPrefix("2026-01-01 00:02\n\nonly text\nmore\n"))
      #expect(try await command.run("badge").output == "2\n")
      let json = try await command.run("show", "0abc02", "--json").output
      #expect(try NewsJSON.decode(NewsItem.self, from: Data(json.utf8)).url == "javascript:alert(1)")
    }
  }

  @Test("opens only http and https addresses, without a shell, by BROWSER or xdg-open")
  func browser() async throws {
    try await with { command, _ in
      let folder = command.folder.appending(path: "bin")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for name in ["viewer", "xdg-open"] {
        let file = folder.appending(path: name)
        try Data("#!/bin/sh\necho \(name) \"$#:$*\" >>\(folder.path)/calls\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
      }
      var calls: String { (try? String(contentsOf: folder.appending(path: "calls"), encoding: .utf8)) ?? "" }
      func open(_ browser: String?, _ id: String) async throws -> ChildProcess.Result {
        var command = command
        command.variables = ["PATH": "\(folder.path):/usr/bin:/bin"]
        command.variables["BROWSER"] = browser
        return try await command.run("open-in-browser", id)
      }
      #expect(try await open(nil, "0abc01").status == 0)
      #expect(try await open("no-such-program:viewer --new %s", "0abc01").status == 0)
      #expect(
        calls == "xdg-open 1:https://news.example/1?a=b&c\nviewer 2:--new https://news.example/1?a=b&c\n")
      let failed = try await open("false", "0abc01")
      #expect(failed.status == 20)
      #expect(
        failed.errors == "tidings-fetch: cannot open https://news.example/1?a=b&c: false ended with status 1\n")
      #expect(try await open("viewer", "0abc02").errors.contains("not http or https"))
      #expect(try await open("viewer", "0abc03").errors.contains("no page of its own"))
      #expect(try await command.run("badge").output == "2\n")
    }
  }

  @Test(
    "keeps lines within the terminal, whatever the widths of characters",
    .enabled(if: program("script") != nil && program("stty") != nil, "needs script (bsdutils)"),
    arguments: [40, 80, 200])
  func widths(columns: Int) async throws {
    try await with { command, _ in
      let output = try await terminal(command, columns: columns, rows: 200, "list; \"$TF\" show 0abc01")
      let lines = output.split(separator: "\n").map { String($0) }
      #expect(lines.count > 6)
      for line in lines { #expect(width(line) <= columns, "\(line)") }
      if columns >= 60 { #expect(lines[0...2].allSatisfy { $0.contains("2026-01-01") }) }
      #expect(lines.contains { $0.contains("ebb") || $0.contains("Ebb") })
    }
  }

  @Test(
    "pages a text that is longer than the screen with PAGER, and only on a terminal",
    .enabled(if: program("script") != nil && program("stty") != nil, "needs script (bsdutils)"))
  func pager() async throws {
    try await with { command, _ in
      let script = "sed s/^/paged:/"
      func shown(rows: Int, _ pager: String?) async throws -> [Substring] {
        var command = command
        command.variables["PAGER"] = pager
        return try await terminal(command, columns: 80, rows: rows, "show 0abc01").split(separator: "\n")
      }
      let long = try await shown(rows: 10, script)
      #expect(long.count > 10 && long.allSatisfy { $0.hasPrefix("paged:") })
      #expect(try await shown(rows: 100, script).contains { $0.hasPrefix("paged:") } == false)
      for pager in ["", "cat", "no-such-program --x"] {
        let lines = try await shown(rows: 10, pager)
        #expect(lines.count == long.count { $0 != "paged:" } && lines[0].hasPrefix("High water"), "\(pager)")
      }
      var piped = command
      piped.variables["PAGER"] = script
      #expect(try await piped.run("show", "0abc01").output.hasPrefix("High water"))
    }
  }

  /// Runs the command on a terminal.
  ///
  /// - Parameter words: The rest of a line of the shell, in which `TF` is the command without options.
  private func terminal(
    _ command: Command, columns: Int, rows: Int, _ words: String
  ) async throws -> String {
    let tool = ChildProcess.tidings + "-fetch"
    var environment = ["PATH": "/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C.UTF-8", "TF": tool, "SHELL": "/bin/sh"]
    environment["TIDINGS_FETCH_STORE"] = command.folder.path
    environment.merge(command.variables) { $1 }
    let script = "stty cols \(columns) rows \(rows); \"$TF\" \(words)"
    let executable = try #require(program("script"))
    let result = try await ChildProcess(
      ["-qec", script, "/dev/null"], executable: executable, environment: environment
    )
    .result()
    #expect(result.status == 0, "\(result.output)")
    return result.output.replacing("\r\n", with: "\n")
  }

  /// The columns of a line: East Asian characters have two.
  private func width(_ line: String) -> Int {
    line.reduce(0) { $0 + ($1.unicodeScalars.contains { 0x3000...0x9FFF ~= $0.value } ? 2 : 1) }
  }
}
