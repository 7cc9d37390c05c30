import Foundation
import TestSupport
import Testing

/// The lists of commands, on a terminal and in a pipe.
@Suite struct ListHeadingTests {
  /// Returns the lines that a command writes to a terminal, which script(1) makes.
  private static func onTerminal(
    _ arguments: String, _ installation: Installation, _ changes: [String: String] = [:]
  ) async throws -> [Substring] {
    let result = try await ChildProcess(
      ["-q", "-c", "'\(ChildProcess.tidings)' \(arguments)", "/dev/null"], executable: "/usr/bin/script",
      environment: installation.environment(changes)
    ).result()
    #expect(result.status == 0 && result.errors == "")
    return result.output.replacing("\r\n", with: "\n").split(separator: "\n")
  }

  /// Returns the columns of lines that are aligned below headings. Headings have at least two blanks between them.
  private static func columns(_ lines: [Substring], of headings: String) throws -> [[String]] {
    let line = try #require(lines.first)
    var (rest, starts) = (line, [Int]())
    for heading in headings.split(separator: ", ") {
      let place = try #require(rest.firstRange(of: heading), "\(line)")
      starts.append(line.distance(from: line.startIndex, to: place.lowerBound))
      rest = rest[place.upperBound...]
    }
    #expect(starts.first == 0 && rest.isEmpty)
    return lines.dropFirst().map { line in
      zip(starts, starts.dropFirst() + [.max]).map { start, end in
        line.dropFirst(start).prefix(end - start).trimmingCharacters(in: .whitespaces)
      }
    }
  }

  @Test(
    "A list has headings and aligned columns on a terminal, and tabs alone in a pipe",
    arguments: [
      ("keys list", "ID, CREATED, SCOPES, NAME, STATE, TOPICS, EXPIRES, LAST USE, OLD SECRET UNTIL", 2),
      ("subscriptions list", "ID, ADDRESS, STATE, TOPICS, NEXT POLL, LAST ERROR, NAME", 2),
      ("console sessions", "ID, KEY, SIGN-IN, LAST USE, END", 0),
      ("epoch show", "ID, CREATED, STARTS AFTER, ORIGIN", 2),
      (
        "push list", "ID, KIND, TIME, ITEM, DEVICES, ACCEPTED, REFUSED, GONE, NOT SENT, REPORTS, FOUND NEWS, TITLE", 1
      ),
      ("push send --dry-run --item 019a0000-0000-7000-8000-000000000001", "SERVICE, DEVICES", 4),
    ])
  func lists(command: String, headings: String, count: Int) async throws {
    try await Installation.with { installation in
      _ = try await installation.makeKey()
      _ = try await installation.run(
        "keys", "create", "--name", "a second key", "--scope", "items:write", "media:write")
      for statement: String in [
        """
        INSERT INTO subscriptions (id, url, state, title) VALUES
          ('019a0000-0000-7000-8000-000000000002', 'https://a.example/', 'draft', 'A'),
          ('019a0000-0000-7000-8000-000000000003', 'https://port.example/news.atom', 'published', NULL)
        """,
        """
        INSERT INTO items (id, state, date, text)
        VALUES ('019a0000-0000-7000-8000-000000000001', 'draft', '2026-01-01', 'x')
        """,
        """
        INSERT INTO pushes (id, kind, epoch, version, scopes, content, created_at, starts_at)
        SELECT gen_random_uuid(), 'silent', e.id, 1, '{""}', '{}', now(), now() FROM epochs AS e LIMIT 1
        """,
      ] {
        try await TestDatabase.execute(statement, at: installation.url)
      }
      let piped = try await ChildProcess(
        command.split(separator: " ").map(String.init), environment: installation.environment()
      ).result()
      #expect(piped.status == 0 && piped.errors == "")
      let rows = piped.output.split(separator: "\n").map {
        $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      }
      #expect(rows.count == count && !piped.output.contains(headings.prefix { $0 != "," }))
      let shown = try Self.columns(try await Self.onTerminal(command, installation), of: headings)
      #expect(shown == rows)
    }
  }

  @Test("The findings of a check of files have headings on a terminal, and no findings have none")
  func files() async throws {
    try await Installation.with { installation in
      try await withFolder([:]) { parent in
        let changes = ["TIDINGS_MEDIA_DIRECTORY": parent.appending(path: "media").path]
        try await installation.serve(changes: changes) { _ in }
        let none = try await Self.onTerminal("media check", installation, changes)
        #expect(none == ["0 rows, 0 without a file; 0 files, 0 without a row; 0 parts without a row"])
        try await TestDatabase.execute(
          """
          INSERT INTO media (id, sha256, type, bytes, name)
          VALUES (
            '019a0000-0000-7000-8000-000000000001', sha256('x'), 'image/png', 123456, 'fer' || chr(8238) || 'ry.png')
          """, at: installation.url)
        let lines = try await Self.onTerminal("media check", installation, changes)
        let rows = try Self.columns(lines.dropLast(), of: "FINDING, ID OR FILE, FILE, BYTES, NAME")
        #expect(
          rows.map { [$0[0], $0[1], $0[3], $0[4]] } == [
            ["missing", "019a0000-0000-7000-8000-000000000001", "123456", "ferry.png"]
          ])
        #expect(lines.last?.hasPrefix("1 row, 1 without a file") == true)
        // The name has a character that would turn the rest of its line.
        let json = try await installation.run("media", "check", "--json", changes: changes)
        #expect(json.output.contains(#"fer\u202ery.png"#), "\(json.output)")
      }
    }
  }
}
