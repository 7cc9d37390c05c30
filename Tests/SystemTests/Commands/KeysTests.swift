import Foundation
import News
import NewsStore
import PostgresClient
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
      #expect(listed.first?.suffix(3) == ["items:write,media:write", "the desk", "valid"])
      #expect(!listed.joined().joined().contains(parts[2]))

      try await installation.serve { server in
        let answer = try await server.send("GET", "/v1/editorial/items", key: key)
        #expect(answer.status == 200)
        #expect(try await installation.run("keys", "revoke", parts[1]).status == 0)
        #expect(try await server.send("GET", "/v1/editorial/items", key: key).status == 401)
      }
      #expect(try await list(installation).first?.last?.hasPrefix("revoked 2") == true)
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

  @Test("An id that does not exist cannot be revoked")
  func unknown() async throws {
    try await Installation.with { installation in
      let result = try await installation.run("keys", "revoke", "nobody")
      #expect(result.status > 0)
      #expect(result.errors.contains("there is no key with the id nobody."))
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
      let unknown = try await installation.run("keys", "revoke", name)
      #expect(unknown.errors.hasPrefix("tidings: there is no key with the id a[2J fake."), "\(unknown.errors)")
    }
  }

  @Test(
    "A key without a name or a known scope is not created",
    arguments: [
      ["--name", "a", "--scope", "everything"], ["--name", "a", "--scope"], ["--name", "a"],
      ["--scope", "items:write"], ["--name", " ", "--scope", "admin"],
    ])
  func refused(arguments: [String]) async throws {
    try await Installation.with { installation in
      let process = try ChildProcess(["keys", "create"] + arguments, environment: installation.environment())
      let result = await process.result()
      #expect(result.status > 0)
      #expect(result.output == "")
      #expect(result.errors.contains("--name") || result.errors.contains("--scope"), "\(result.errors)")
      #expect(try await installation.value("SELECT count(*) FROM api_keys") == 0)
    }
  }
}
