public import ArgumentParser
import Foundation
import News
import NewsStore

struct Keys: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes, lists and revokes the keys of editors and programs.",
    subcommands: [Create.self, List.self, Revoke.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a key and prints it, this once: only a digest is stored.")

    @OptionGroup var common: CommonOptions

    @Option(help: "What the key is known by.")
    var name: String

    @Option(
      name: .customLong("scope"), parsing: .upToNextOption,
      help: "What it may do: \(APIKey.Scope.allCases.map(\.rawValue).joined(separator: ", ")).")
    var scopes: [APIKey.Scope]

    func validate() throws {
      if name.allSatisfy(\.isWhitespace) || name.utf8.count > 256 {
        throw ValidationError("--name needs 1 to 256 bytes.")
      }
      if scopes.isEmpty { throw ValidationError("--scope is needed at least once.") }
    }

    func run() async throws {
      try await common.withStore { store, _ in
        try StandardStreams.printResult(try await store.createKey(name: name, scopes: scopes))
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints id, date, scopes, name and whether it is revoked, in columns separated by tabs.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
      try await common.withStore { store, _ in
        for key in try await store.keys() {
          let scopes = key.scopes.map(\.rawValue).joined(separator: ",")
          let state = key.revoked.map { "revoked \(RFC3339.string(from: $0))" } ?? "valid"
          // A name may contain any characters.
          let columns = [key.id, RFC3339.string(from: key.created), scopes, key.name.terminalSafe, state]
          try StandardStreams.printResult(columns.joined(separator: "\t"))
        }
      }
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Makes a key invalid, at once and for good.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The id of the key, the part between the underscores.")
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

  var description: String { "there is no key \(id.terminalSafe); `tidings keys list` shows their ids" }
}

extension APIKey.Scope: ExpressibleByArgument {}
