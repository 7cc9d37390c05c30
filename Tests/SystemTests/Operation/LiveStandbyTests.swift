import Foundation
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The live page of a server whose database has a standby.
@Suite struct LiveStandbyTests {
  /// A name that would be markup in a page that does not escape it. Standbys choose theirs themselves.
  private static let name = #""><svg onload=x>'"#

  @Test("The live page has a row for each standby, with its state and its lag, and its name is text")
  func standby() async throws {
    try await TestCluster.withCluster { primary in
      let database = try await TestDatabase.create(on: primary.url)
      _ = try await Migrator(configuration: .forBusyMachine(database.url), logger: NewsDatabase.logger).migrate()
      try await Installation.with(url: database.url) { installation in
        let made = try await installation.run("keys", "create", "--name", "desk", "--scope", "admin")
        let key = made.output.trimmingCharacters(in: .newlines)
        let standby = try await TestCluster.reserve()
        try await standby.becomeStandby(of: primary)
        try await withResource(standby, release: { try await $0.remove() }) { standby in
          try await Self.rename(standby)
          var components = try #require(URLComponents(string: await standby.url))
          components.path = "/\(database.name)"
          let changes = ["DATABASE_READ_URL": try #require(components.string)]
          try await installation.serve(changes: changes) { server in
            var visitor = ConsoleVisitor(port: server.port)
            #expect(try await visitor.post("/console/sign-in", [("key", key)]).status == 303)
            let signedIn = visitor
            try await eventually("the standby streams") {
              try await signedIn.get("/console/live").text.contains(">streaming<")
            }
            let page = try await signedIn.get("/console/live")
            let scan = try PageScan(page.text, as: .console)
            #expect(!page.text.contains("<svg onload"))
            let heading = try #require(
              scan.tags.first { $0.name == "th" && $0["scope"] == "row" && $0.text == Self.name })
            #expect(heading.attributes == ["scope": "row"])
            let cells = scan.tags.drop { $0.text != Self.name }.dropFirst().prefix(4).map(\.text)
            #expect(cells.count == 4 && cells[0] == "127.0.0.1" && cells[1] == "streaming")
            #expect(cells[2] == "–" || cells[2].hasSuffix(" ms"))
            #expect(cells[3].hasSuffix("B"))
            #expect(scan.text.contains("Reads from standbys") && !scan.text.contains("No standby replicates"))
            #expect(scan.accessibilityProblems == [])
          }
        }
      }
    }
  }

  /// Gives a standby the name.
  private static func rename(_ standby: TestCluster) async throws {
    let url = await standby.url
    let connection = try await PostgresConnection.with(
      configuration: .forBusyMachine(url), logger: NewsDatabase.logger
    ) {
      try await $0.query("SELECT current_setting('primary_conninfo') AS text").first?.decode("text", as: String.self)
    }
    let quoted = name.replacing("'", with: "\\'")
    let setting = "\(try #require(connection)) application_name='\(quoted)'".replacing("'", with: "''")
    try await TestDatabase.execute("ALTER SYSTEM SET primary_conninfo = '\(setting)'", at: url)
    try await TestDatabase.execute("SELECT pg_reload_conf()", at: url)
  }
}
