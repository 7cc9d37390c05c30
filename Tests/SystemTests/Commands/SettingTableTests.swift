import Foundation
import TestSupport
import Testing
import tidings

/// The table of settings, the documents that are written from it, and the code that uses it.
@Suite struct SettingTableTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOf: Project.root.appending(path: path), encoding: .utf8)
  }

  /// Returns the text of all sources of the server in a folder, except for the table.
  private static func sources(in folder: String) throws -> String {
    let root = Project.root.appending(path: folder)
    let names = try #require(FileManager.default.subpaths(atPath: root.path)).filter { name in
      name.hasSuffix(".swift") && !name.hasSuffix("SettingTable.swift")
        && !["NewsClient/", "tidings-fetch/"].contains { name.hasPrefix($0) }
    }
    return try names.map { try text("\(folder)/\($0)") }.joined()
  }

  @Test(
    "The reference and the example of a settings file are current; `make settings` writes them",
    arguments: [("markdown", "docs/settings.md"), ("environment", "deploy/environment.example")])
  func documents(format: String, path: String) async throws {
    let process = try ChildProcess(["settings", "--format", format], environment: [:])
    let written = await process.result().output
    #expect(written == (try Self.text(path)))
    for name in SettingTable.names { #expect(written.contains(name)) }
  }

  @Test("Compose passes all settings on to the servers, except those that its containers fix")
  func compose() throws {
    let fixed: Set = [
      "DATABASE_URL", "DATABASE_URL_FILE", "DATABASE_READ_URL_FILE", "TIDINGS_HOST", "TIDINGS_PORT",
      "TIDINGS_MIGRATIONS", "TIDINGS_OPENAPI", "TIDINGS_MEDIA_DIRECTORY", "TIDINGS_TRUSTED_PROXIES",
    ]
    let passed = try Self.text("docker-compose.yml").matches(of: /(?m)^    ([A-Z][A-Z_]+):$/).map { String($0.1) }
    #expect(Set(passed).count == passed.count)
    #expect(Set(SettingTable.names).subtracting(fixed) == Set(passed))
  }

  @Test("Each setting of the table is used, and its name is unique")
  func uses() throws {
    let code = try Self.sources(in: "Sources/tidings")
    let settings = Mirror(reflecting: SettingTable()).children.filter { !($0.value is String) }.compactMap(\.label)
    #expect(settings.count > 50)
    for setting in settings {
      let use = try Regex("\\b(self|settings)\\.\(setting)\\b").wordBoundaryKind(.simple)
      #expect(code.contains(use), "\(setting)")
    }
    #expect(Set(SettingTable.names).count == SettingTable.names.count)
  }

  @Test("Each name in the sources of the server that looks like a setting is one")
  func names() throws {
    let names = try Self.sources(in: "Sources").matches(of: /TIDINGS_[A-Z][A-Z_]*/).map { String($0.output) }
    #expect(Set(names).count > 30)
    for name in Set(names) { #expect(UnknownSetting(inEnvironment: name) == nil, "\(name)") }
  }

  @Test("The command prints each setting with its value, its default and the place of the value, but no secret")
  func list() async throws {
    let settings = "TIDINGS_PORT=81\nTIDINGS_CACHE_SIZE=1\nTIDINGS_POOL_SIZE=4\n"
    try await withFolder(["settings": settings, "secret": "postgresql://u:geheim@db/x"]) { folder in
      let (file, secret) = (folder.appending(path: "settings").path, folder.appending(path: "secret").path)
      let environment = [
        "DATABASE_READ_URL": "password=geheim", "DATABASE_URL_FILE": secret, "TIDINGS_PORT": "82",
        "TIDINGS_CACHE_SIZE": "",
      ]
      let result = try await ChildProcess(["settings", "--settings", file], environment: environment).result()
      #expect(result.status == 0 && !result.output.contains("geheim"), "\(result.errors)")
      let rows = result.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
      #expect(rows.map(\.first) == SettingTable.names)
      for row in [
        ["DATABASE_URL", "(not shown)", "libpq's own", "file \(secret)"],
        ["DATABASE_URL_FILE", secret, "none", "environment"],
        ["DATABASE_READ_URL", "(not shown)", "none", "environment"],
        ["TIDINGS_PORT", "82", "8080", "environment"], ["TIDINGS_POOL_SIZE", "4", "8", "settings file"],
        ["TIDINGS_CACHE_SIZE", "64", "64", "default"], ["TIDINGS_PUBLIC_URL", "none", "none", "default"],
      ] { #expect(rows.contains(row), "\(row)") }
    }
  }
}
