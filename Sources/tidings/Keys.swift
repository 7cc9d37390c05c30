public import ArgumentParser
import Foundation
import News
import NewsStore

struct Keys: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Creates, lists and revokes the keys of editors and programs.",
    subcommands: [Create.self, List.self, Revoke.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Creates a key and prints it.",
      discussion: "The key is shown only once, because the database stores only its digest.")

    @OptionGroup var common: CommonOptions

    @Option(help: "The name of the key in lists and in the log, 1 to 256 bytes.")
    var name: String

    @Option(
      name: .customLong("scope"), parsing: .upToNextOption,
      help: "The permissions of the key, one or more. The scope admin includes all others.")
    var scopes: [APIKey.Permission]

    func validate() throws {
      if name.allSatisfy(\.isWhitespace) || name.utf8.count > 256 {
        throw ValidationError("--name must have 1 to 256 bytes and must not be blank.")
      }
      if scopes.isEmpty { throw ValidationError("--scope is missing.") }
    }

    func run() async throws {
      try await common.withStore { store, _ in
        try StandardStreams.printResult(try await store.createKey(name: name, permissions: scopes))
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists all keys, including revoked ones.",
      discussion: "Each line has five columns, separated by tabs: the id, the date, the scopes, the name and the state."
    )

    @OptionGroup var common: CommonOptions

    func run() async throws {
      try await common.withStore { store, _ in
        for key in try await store.keys() {
          let scopes = key.permissions.map(\.rawValue).joined(separator: ",")
          let state = key.revoked.map { "revoked \(RFC3339.string(from: $0))" } ?? "valid"
          // A name may contain any characters.
          let columns = [key.id, RFC3339.string(from: key.created), scopes, key.name.terminalSafe, state]
          try StandardStreams.printResult(columns.joined(separator: "\t"))
        }
      }
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Revokes a key.", discussion: "The key becomes invalid at once and cannot be restored.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The id of the key: the part between the underscores.")
    var id: String

    func run() async throws {
      try await common.withStore { store, _ in
        do {
          try await store.revokeKey(id)
        } catch StoreError.notFound {
          throw UnknownKey(id: id)
        }
      }
    }
  }
}

/// An id that belongs to no key.
private struct UnknownKey: Error, CustomStringConvertible {
  let id: String

  var description: String { "there is no key with the id \(id.terminalSafe). `tidings keys list` shows the ids." }
}

extension APIKey.Permission: ExpressibleByArgument {}
