import Foundation
import News
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct KeysTests {
  /// Returns the lines of the list, split into columns.
  private func list(_ installation: Installation) async throws -> [[String]] {
    let result = try await installation.run("keys", "list")
    #expect(result.status == 0)
    return result.output.split(separator: "\n").map { $0.split(separator: "\t").map { String($0) } }
  }

  @Test("A key is printed alone, works at once until it is revoked, and is listed without its secret")
  func life() async throws {
    try await Installation.with { installation in
      let created = try await installation.run(
        "keys", "create", "--name", "the desk", "--scope", "items:write", "media:write")
      #expect(created.status == 0)
      #expect(created.output.wholeMatch(of: /tdk_[0-9a-f]+_[0-9a-f]{64}\n/) != nil)
      #expect(created.errors == "")
      let key = created.output.trimmingCharacters(in: .newlines)
      let parts = key.split(separator: "_").map { String($0) }

      let listed = try await list(installation)
      #expect(listed.count == 1)
      #expect(listed.first?.first == parts[1])
      #expect(listed.first?.dropFirst(2) == ["items:write,media:write", "the desk", "valid", "-", "-", "-", "-"])
      #expect(!listed.joined().joined().contains(parts[2]))

      try await installation.serve { server in
        let answer = try await server.send("GET", "/v1/editorial/items", key: key)
        #expect(answer.status == 200)
        #expect(try await installation.run("keys", "revoke", parts[1]).status == 0)
        // The server is notified of the revocation, and forgets the key after a second otherwise.
        try await eventually("the key is refused") {
          try await server.send("GET", "/v1/editorial/items", key: key).status == 401
        }
      }
      #expect(try await list(installation).first?[4].hasPrefix("revoked 2") == true)
    }
  }

  @Test("Scopes can be given together and one by one")
  func scopes() async throws {
    try await Installation.with { installation in
      let result = try await installation.run(
        "keys", "create", "--name", "a", "--scope", "items:write", "--scope", "admin")
      #expect(result.status == 0)
      #expect(try await list(installation).first?[2] == "items:write,admin")
    }
  }

  @Test("A key has a name of at most 256 bytes, and an end within at most a hundred years")
  func limits() async throws {
    try await Installation.with { installation in
      let name = String(repeating: "é", count: 128)
      let result = try await installation.run(
        "keys", "create", "--name", name, "--scope", "admin", "--expires", "36525d")
      #expect(result.status == 0, "\(result.errors)")
      #expect(try await list(installation).first?[3] == name)
    }
  }

  @Test("A name or id that does not exist can be neither revoked nor rotated", arguments: ["revoke", "rotate"])
  func unknown(command: String) async throws {
    try await Installation.with { installation in
      let result = try await installation.run("keys", command, "nobody")
      #expect(result.status == 1)
      #expect(result.output == "")
      #expect(result.errors.contains("there is no key with the id or name nobody."))
    }
  }

  @Test("A key is restricted to topics that exist, and the list shows them with the expiry")
  func restricted() async throws {
    try await Installation.with { installation in
      _ = try await installation.sql.query("INSERT INTO scopes (scope) VALUES ('sport'), ('politics')")
      _ = try await installation.sql.query("INSERT INTO topics (slug) VALUES ('sport'), ('politics')")
      let unknown = try await installation.run(
        "keys", "create", "--name", "a", "--scope", "items:write", "--topics", "sport,economy,weather")
      #expect(unknown.status == 1 && unknown.output == "")
      #expect(unknown.errors.contains("--topics must be existing topics; not found: economy, weather."))
      let past = try await installation.run(
        "keys", "create", "--name", "a", "--scope", "items:write", "--expires", "2026-01-01T00:00:00Z")
      #expect(past.status == 1 && past.output == "")
      #expect(past.errors.contains("the expiry must be in the future"))
      #expect(try await list(installation).isEmpty)

      let created = try await installation.run(
        "keys", "create", "--name", "a", "--scope", "items:write", "--topics", "sport,politics", "--expires",
        "2100-01-01T00:00:00Z")
      #expect(created.status == 0 && created.errors == "")
      #expect(
        try await installation.run("keys", "create", "--name", "b", "--scope", "admin", "--expires", "90d").status == 0)
      let listed = try await list(installation)
      #expect(listed[0].suffix(4) == ["politics,sport", "2100-01-01T00:00:00.000Z", "-", "-"])
      let expiry = try #require(RFC3339.date(from: listed[1][6]))
      let creation = try #require(RFC3339.date(from: listed[1][1]))
      #expect(abs(expiry.timeIntervalSince(creation) - 90 * 86_400) < 600)

      let key = created.output.trimmingCharacters(in: .newlines)
      try await installation.serve { server in
        let write = #"{"text": "x", "topics": ["economy"]}"#
        let refused = try await server.send("POST", "/v1/editorial/items", key: key, body: write)
        #expect(try refused.json(Problem.self, status: 403).detail?.contains("economy") == true)
        _ = try await installation.sql.query("UPDATE api_keys SET expires_at = clock_timestamp() WHERE name = 'a'")
        try await eventually("the key is refused") {
          try await server.send("GET", "/v1/editorial/items", key: key).status == 401
        }
      }
      #expect(try await list(installation)[0][4] == "expired")
    }
  }

  @Test("A rotation prints the new key alone; the old one works too until the overlap ends, and a revocation ends both")
  func rotation() async throws {
    try await Installation.with { installation in
      let first = try await installation.makeKey()
      @Sendable func rotate(_ arguments: String...) async throws -> String {
        let command = ["keys", "rotate", "desk"] + arguments
        let result = await (try ChildProcess(command, environment: installation.environment())).result()
        #expect(result.status == 0 && result.errors == "")
        #expect(result.output.wholeMatch(of: /tdk_[0-9a-f]+_[0-9a-f]{64}\n/) != nil)
        return result.output.trimmingCharacters(in: .newlines)
      }
      try await installation.serve { server in
        func isAccepted(_ key: String) async throws -> Bool {
          try await server.send("GET", "/v1/editorial/items", key: key).status == 200
        }
        let second = try await rotate()
        #expect(first.split(separator: "_")[1] == second.split(separator: "_")[1])
        #expect(try await isAccepted(second))
        #expect(try await isAccepted(first))
        let end = try #require(RFC3339.date(from: try await list(installation)[0][8]))
        #expect(abs(end.timeIntervalSinceNow - 86_400) < 600)
        let third = try await rotate("--overlap", "30m")
        try await eventually("the first one ends") { try await !isAccepted(first) }
        let fourth = try await rotate("--overlap", "0")
        try await eventually("the other old ones end") {
          let (two, three) = (try await isAccepted(second), try await isAccepted(third))
          return !two && !three
        }
        #expect(try await isAccepted(fourth))
        let fifth = try await rotate("--overlap", "1w")
        #expect(try await installation.run("keys", "revoke", "desk").status == 0)
        try await eventually("both end") {
          let (four, five) = (try await isAccepted(fourth), try await isAccepted(fifth))
          return !four && !five
        }
      }
      let refused = try await installation.run("keys", "rotate", "desk")
      #expect(refused.status == 1 && refused.output == "")
      #expect(refused.errors.contains("the key desk is revoked"))
      #expect(try await list(installation).count == 1)
    }
  }

  @Test("The list shows the last use of a key, also that of the last moment before a server stopped")
  func lastUse() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      func lastUse() async throws -> Date? { RFC3339.date(from: try await list(installation)[0][7]) }
      let server = try await installation.start()
      try await withResource(server.process, release: { await $0.kill() }) { process in
        #expect(try await server.send("GET", "/v1/editorial/items", key: key).status == 200)
        try await eventually("the use is recorded") { try await lastUse() != nil }
        let first = try #require(try await lastUse())
        // Times are shown in milliseconds.
        try await Task.sleep(for: .milliseconds(10))
        #expect(try await server.send("GET", "/v1/editorial/items", key: key).status == 200)
        process.send(SIGTERM)
        #expect(await process.result().status == 0)
        #expect(try #require(try await lastUse()) > first)
      }
    }
  }

  @Test("A name or an id is printed without control characters")
  func hostileName() async throws {
    try await Installation.with { installation in
      let name = "a\u{1B}[2J\nfake\u{202E}"
      let created = try await installation.run("keys", "create", "--name", name, "--scope", "admin")
      #expect(created.status == 0)
      #expect(created.output.terminalSafe == created.output.replacing("\n", with: " "))
      let listed = try await list(installation)
      #expect(listed.count == 1)
      #expect(listed.first?.dropFirst(3).first == "a[2J fake")
      let unknown = try await installation.run("keys", "revoke", name + "x")
      #expect(unknown.errors.hasPrefix("tidings: there is no key with the id or name a[2J fakex."), "\(unknown.errors)")
    }
  }

  @Test(
    "A key without a name or a known scope, or with malformed topics or expiry, is not created",
    arguments: [
      ["--name", "a", "--scope", "everything"], ["--name", "a", "--scope"], ["--name", "a"],
      ["--scope", "items:write"], ["--name", " ", "--scope", "admin"],
      ["--name", String(repeating: "é", count: 129), "--scope", "admin"],
      ["--name", "a", "--scope", "admin", "--topics", "sport"],
      ["--name", "a", "--scope", "items:write", "--topics", ""],
      ["--name", "a", "--scope", "items:write", "--topics", "sport,"],
      ["--name", "a", "--scope", "items:write", "--topics", "Sport"],
      ["--name", "a", "--scope", "items:write", "--expires", "0d"],
      ["--name", "a", "--scope", "items:write", "--expires", "90"],
      ["--name", "a", "--scope", "items:write", "--expires", "-1d"],
      ["--name", "a", "--scope", "items:write", "--expires", "36526d"],
      ["--name", "a", "--scope", "items:write", "--expires", "9999999999999999999w"],
      ["--name", "a", "--scope", "items:write", "--expires", "2100-01-01"],
    ])
  func refused(arguments: [String]) async throws {
    try await Installation.with { installation in
      let process = try ChildProcess(["keys", "create"] + arguments, environment: installation.environment())
      let result = await process.result()
      #expect(result.status > 0)
      #expect(result.output == "")
      #expect(result.errors.contains(arguments.count > 4 ? arguments[4] : "--"), "\(result.errors)")
      #expect(try await installation.value("SELECT count(*) FROM api_keys") == 0)
    }
  }
}
