import Foundation
import NewsStore
import TestKit
import TestSupport
import Testing

/// The commands that the first steps of the console show, as they stand.
@Suite struct FirstRunCommandTests {
  @Test("The commands of the first steps bring news in and show what an app gets")
  func commands() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      let cookie = try await Self.session(installation, key)
      try await installation.serve { server in
        let page = try await server.send("GET", "/console/first-run", headers: [("Cookie", cookie)])
        let commands = page.text.matches(of: /<code>([^<]*)<\/code>/).map { String($0.1) }
        try #require(commands.count == 2, "\(page.text)")
        let item = #"{"title": "Fog lifts", "text": "The harbour is open."}"#
        #expect(try await server.send("POST", "/v1/editorial/items", key: key, body: item).status == 201)
        let first = try await Self.run(commands[1], installation)
        #expect(first.contains("1 new") && first.contains("Fog lifts"))
        // FILE is the reader's own.
        let sample = Project.root.appending(path: "Samples/harbour-gazette.atom.xml").path
        #expect(try await Self.run(commands[0].replacing("FILE", with: sample), installation).contains("inserted"))
        let second = try await Self.run(commands[1], installation)
        #expect(second.contains("13 new") && second.contains("Fog lifts"))
      }
    }
  }

  /// Runs a command in an empty folder, with the programs in the search path.
  private static func run(_ command: String, _ installation: Installation) async throws -> String {
    let programs = URL(filePath: ChildProcess.tidings).deletingLastPathComponent().path
    let environment = installation.environment(["PATH": programs + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
    return try await withFolder([:]) { try await ShellDocument.run(command, in: $0, environment: environment) }
  }

  /// Returns the cookie of a new session.
  private static func session(_ installation: Installation, _ key: String) async throws -> String {
    let store = NewsStore(
      connection: .forBusyMachine(installation.url), pool: .forBusyMachine, logger: NewsDatabase.logger)
    return try await withResource(store, release: { await $0.shutdown() }) { store in
      "tidings_console=\(try #require(try await store.openSession(key: key)).token)"
    }
  }
}
