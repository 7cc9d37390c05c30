import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Keys, codes of links, cookies and tokens of forms: they are in no log and in no table.
@Suite struct ConsoleSecretTests {
  /// The forms in which a secret may have been written somewhere.
  private static func spellings(_ secret: String) -> [String] {
    let bytes = Data(secret.utf8)
    var spellings = [secret, bytes.map { String(format: "%02x", $0) }.joined(), bytes.base64EncodedString()]
    // A key has its secret after its public id, and a cookie its token after its name.
    let parts = secret.split { $0 == "_" || $0 == "=" }.map(String.init)
    if let last = parts.last, parts.count > 1, last.count >= 32 {
      spellings += [last, Data(last.utf8).map { String(format: "%02x", $0) }.joined()]
    }
    // Tokens and codes are 32 bytes in base64url.
    let base64 = (parts.last ?? "").replacing("-", with: "+").replacing("_", with: "/") + "="
    if let decoded = Data(base64Encoded: base64), decoded.count == 32 {
      spellings.append(decoded.map { String(format: "%02x", $0) }.joined())
    }
    return spellings
  }

  /// Returns all rows of all tables as texts.
  private static func dump(_ installation: Installation) async throws -> [String: String] {
    let tables: [String] = try await installation.sql.query(
      "SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    ).map { try $0.decode("name") }
    var dump: [String: String] = [:]
    for table in tables {
      dump[table] = try await installation.sql.query(
        "SELECT coalesce(string_agg(t::text, chr(10)), '') AS text FROM \(unsafeSQL: table) AS t"
      ).first?.decode("text", as: String.self)
    }
    return dump
  }

  /// Lives through sign-ins, a new key, a rotation and refusals.
  ///
  /// - Parameter secrets: Receives all secrets.
  private static func visit(
    _ installation: Installation, port: Int, _ key: String, _ secrets: inout [String]
  ) async throws {
    var visitor = ConsoleVisitor(port: port)
    let wrong = String(key.dropLast(4)) + "0000"
    secrets += [key, wrong]
    #expect(try await visitor.post("/console/sign-in", [("key", wrong)]).status == 403)
    #expect(try await visitor.post("/console/link", [("code", key)]).status == 403)
    #expect(try await visitor.post("/console/sign-in", [("key", key), ("next", "/console/keys")]).status == 303)
    let first = try #require(visitor.cookie)
    let token = try await visitor.token()
    secrets += [first, token]

    let link = try await installation.run("console", "link", "--key", "desk")
    let code = try #require(link.output.firstMatch(of: /#([A-Za-z0-9_-]{43})/))
    secrets.append(String(code.1))
    #expect(!link.errors.contains(code.1))
    let unused = try await installation.run("console", "link", "--key", "desk")
    secrets.append(String(try #require(unused.output.firstMatch(of: /#([A-Za-z0-9_-]{43})/)).1))
    var other = ConsoleVisitor(port: port)
    #expect(try await other.post("/console/link", [("code", String(code.1))]).status == 303)
    #expect(try await other.post("/console/link", [("code", String(code.1))]).status == 403)
    secrets.append(try #require(other.cookie))

    let made = try await visitor.post(
      "/console/keys",
      try await visitor.hiddenFields("/console/keys/new") + [("name", "anna"), ("scopes", "items:write")])
    let secret = String(try #require(made.text.firstMatch(of: /tdk_[0-9a-f]+_[0-9a-f]{64}/), "\(made.text)").output)
    secrets.append(secret)
    let id = try #require(secret.split(separator: "_").dropFirst().first)
    let rotation = "/console/keys/\(id)/rotate"
    let rotated = try await visitor.post(
      rotation, try await visitor.hiddenFields(rotation) + [("overlap", "86400")])
    secrets.append(String(try #require(rotated.text.firstMatch(of: /tdk_[0-9a-f]+_[0-9a-f]{64}/)).output))
    secrets.append(
      try await installation.run("keys", "rotate", "anna").output.trimmingCharacters(in: .whitespacesAndNewlines))

    // Forms and requests that fail, with secrets in unusual places.
    for form in [[("csrf", token)], [("csrf", "x")], [("csrf", token), ("revision", "1"), ("reason", "x")]] {
      _ = try await visitor.post("/console/items/\(UUID())/retract", form)
      _ = try await visitor.post("/console/sessions/\(UUID())/end", form)
    }
    _ = try await visitor.get("/console/nothing")
    _ = try await visitor.get("/console/items?state=x")
    _ = try await visitor.get("/console/live")
    // The server cannot answer from the database: the cause is logged.
    _ = try await installation.sql.query("ALTER TABLE media RENAME TO media_away")
    #expect(try await visitor.get("/console/files").status == 500)
    _ = try await installation.sql.query("ALTER TABLE media_away RENAME TO media")
    #expect(try await visitor.post("/console/sign-out", [("csrf", token)]).status == 303)
    #expect(try await visitor.get("/console/items").status == 303)
  }

  /// Returns the port on which a process listens, from its log in either format.
  private static func port(of process: ChildProcess) async throws -> Int {
    for await line in process.errorLines {
      guard line.contains("listening"), let found = line.firstMatch(of: /127\.0\.0\.1:(\d+)/) else { continue }
      return try #require(Int(found.1))
    }
    throw Unexpected(description: "the server does not listen: \(await process.result().errors)")
  }

  @Test("The most detailed log and the whole database have no key, code, cookie or token", arguments: ["text", "json"])
  func secrets(format: String) async throws {
    try await Installation.with { installation in
      let made = try await installation.run("keys", "create", "--name", "desk", "--scope", "admin")
      let key = made.output.trimmingCharacters(in: .newlines)
      let environment = installation.environment([
        "TIDINGS_LOG_LEVEL": "trace", "TIDINGS_LOG_FORMAT": format, "TIDINGS_SLOW_REQUEST": "1",
      ])
      let process = try ChildProcess(["serve", "--port", "0"], environment: environment)
      try await withResource(process, release: { await $0.kill() }) { process in
        var secrets: [String] = []
        try await Self.visit(installation, port: try await Self.port(of: process), key, &secrets)
        let dump = try await Self.dump(installation)
        process.send(SIGTERM)
        let log = await process.result().errors
        // The log has the requests, and the cause of the error.
        #expect(log.contains("request failed") && log.contains("/console/sign-in"))
        #expect(dump["console_sessions"]?.isEmpty == false && dump["api_keys"]?.contains("anna") == true)
        #expect(secrets.count == 10 && secrets.allSatisfy { $0.utf8.count >= 43 })
        for secret in secrets {
          for spelling in Self.spellings(secret) {
            #expect(!log.contains(spelling), "the log has \(spelling)")
            for (table, text) in dump { #expect(!text.contains(spelling), "\(table) has \(spelling)") }
          }
        }
      }
    }
  }

  @Test("No command takes a key as an argument, and no document shows one on a command line")
  func commandLines() async throws {
    let folder = Project.root.appending(path: "docs")
    var documents = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "md" }
    documents.append(Project.root.appending(path: "README.md"))
    for document in documents {
      let text = try String(contentsOf: document, encoding: .utf8)
      #expect(text.firstMatch(of: /tdk_[0-9a-z]+_[0-9a-f]{8}/) == nil, "\(document.lastPathComponent)")
    }
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      // A key that is typed in place of a name is refused, and not repeated.
      for command in [["console", "link", "--key", key], ["console", "end", "--key", key], ["keys", "revoke", key]] {
        let process = try ChildProcess(command, environment: installation.environment())
        let result = await process.result()
        #expect(result.status == 1 && result.output == "")
        let secret = try #require(key.split(separator: "_").last)
        #expect(!result.errors.contains(secret) && result.errors.contains("not the key itself"), "\(result.errors)")
      }
    }
  }
}
