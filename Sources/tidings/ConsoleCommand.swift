import ArgumentParser
import Foundation
import News
import NewsStore

struct ConsoleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "console",
    abstract: "Creates sign-in links for the console, and lists and ends its sessions.",
    subcommands: [Link.self, Sessions.self, End.self])

  struct Link: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints an address that signs a browser in, once.",
      discussion: """
        The browser gets the rights of the key. The address works for 10 minutes. It begins with TIDINGS_PUBLIC_URL, or \
        with http://127.0.0.1 and TIDINGS_PORT.
        """)

    @OptionGroup var common: CommonOptions

    @Option(help: "The name or the id of the key.")
    var key: String

    func run() async throws {
      try await reporting {
        let (settings, logger) = try common.load()
        guard settings.servesConsole else {
          throw SettingError(name: SettingTable.shared.servesConsole.name, rule: "is false, so there is no console")
        }
        try await settings.withStore(logger) { store in
          let link = try await store.createSignInLink(forKeyNamed: key)
          let url = settings.publicURL ?? "http://127.0.0.1:\(settings.port)"
          try StandardStreams.printResult("\(url)/console/link#\(link.code)")
          StandardStreams.printDiagnostic(
            "tidings: the address signs one browser in and works for 10 minutes. Anyone who has it can use it.")
          guard settings.publicURL?.hasPrefix("https://") != true else { return }
          StandardStreams.printDiagnostic(
            "tidings: without https, only a browser on the server's machine can sign in (TIDINGS_PUBLIC_URL).")
        }
      }
    }
  }

  struct Sessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists the sessions that have not ended, those with the newest use first.",
      discussion: """
        Each line has five columns, separated by tabs, or aligned below headings on a terminal: the id, the name of the key, \
        the time of the sign-in, the last use, and the time at which the session ends without a further use. The last use is \
        recorded within a minute.
        """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
      try await common.withStore { store, _ in
        let rows = try await store.sessions().map { session in
          [
            session.id.uuidString.lowercased(), session.key.name.terminalSafe, RFC3339.string(from: session.createdAt),
            RFC3339.string(from: session.lastUsedAt), RFC3339.string(from: session.expiresAt),
          ]
        }
        try StandardStreams.printList(["ID", "KEY", "SIGN-IN", "LAST USE", "END"], rows)
      }
    }
  }

  struct End: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ends a session, or all sessions of a key.",
      discussion: """
        They end at once in all servers. With --key, unused sign-in links of the key end too, and the number of ended \
        sessions is printed.
        """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The id of the session.", transform: CommonOptions.id)
    var id: UUID?

    @Option(help: "The name or the id of the key.")
    var key: String?

    func validate() throws {
      if (id == nil) == (key == nil) { throw ValidationError("Give either the id of a session or --key.") }
    }

    func run() async throws {
      try await common.withStore { store, _ in
        if let key {
          try StandardStreams.printResult("ended \(try await store.endSessions(ofKeyNamed: key))")
        } else if let id, try await !store.endSession(id) {
          throw CommandError(
            "there is no session with the id \(id.uuidString.lowercased()). `tidings console sessions` shows the ids.")
        }
      }
    }
  }
}
