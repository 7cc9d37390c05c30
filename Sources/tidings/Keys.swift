public import ArgumentParser
import Foundation
import News
public import NewsStore

struct Keys: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Creates, lists, rotates and revokes the keys of editors and programs.",
    subcommands: [Create.self, List.self, Rotate.self, Revoke.self])

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

    @Option(
      help: """
        Restrict the key to items with these topics, such as sport,politics. It sees and writes an item if all topics of \
        the item are among them, and cannot change topics.
        """)
    var topics: TopicSlugs?

    @Option(
      help: ArgumentHelp(
        "The end of the key's validity: a time in weeks, days, hours or minutes (4w, 90d, 12h, 30m), or a date.",
        discussion: "A date has the form 2027-01-31T12:00:00Z (RFC 3339). The clock of the database decides.",
        valueName: "time"))
    var expires: KeyExpiry?

    func validate() throws {
      guard let violation = KeyRules.violations(name: name, permissions: scopes, topics: topics?.slugs).first else {
        return
      }
      throw ValidationError(Self.sentence(about: violation))
    }

    private static func sentence(about violation: KeyRules.Violation) -> String {
      switch violation {
      case .nameBlank, .nameTooLong:
        "--name must have 1 to \(KeyRules.maximumNameBytes) bytes and must not be blank."
      case .permissionsMissing: "--scope is missing."
      case .topicsOfAdministrator: "--topics cannot restrict the scope admin, which is not only about items."
      }
    }

    func run() async throws {
      try await common.withStore { store, _ in
        do {
          let key = try await store.createKey(name: name, permissions: scopes, topics: topics?.slugs, expiry: expires)
          try StandardStreams.printResult(key)
        } catch StoreError.unknownTopics(let slugs) {
          throw CommandError(unknownTopics: slugs)
        }
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists all keys, including revoked and expired ones.",
      discussion: """
        Each line has nine columns, separated by tabs, or aligned below headings on a terminal: the id, the date, the scopes, the name, the state, the topics, the \
        expiry, the last use, and the time until which the secret from before the last rotation works too. The last use \
        is recorded within a minute. A hyphen means none; for topics it means that the key is not restricted.
        """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
      try await common.withStore { store, _ in
        try StandardStreams.printList(
          ["ID", "CREATED", "SCOPES", "NAME", "STATE", "TOPICS", "EXPIRES", "LAST USE", "OLD SECRET UNTIL"],
          try await store.keys().map(Self.columns))
      }
    }

    private static func columns(_ key: APIKey) -> [String] {
      func time(_ date: Date?) -> String { date.map(RFC3339.string) ?? "-" }
      let state =
        switch key.state {
        case .valid: "valid"
        case .expired: "expired"
        case .revoked: "revoked \(time(key.revoked))"
        }
      // A name may contain any characters. A key whose topics were all deleted has an empty column.
      return [
        key.id, time(key.created), key.permissions.map(\.rawValue).joined(separator: ","), key.name.terminalSafe, state,
        key.topics?.joined(separator: ",") ?? "-", time(key.expires), time(key.lastUse), time(key.previousSecretEnd),
      ]
    }
  }

  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Replaces the secret of a key and prints the new key.",
      discussion: """
        The name, scopes, topics and expiry stay. The old key works until the overlap ends, so that its users can be \
        switched to the new one. A key that was replaced before becomes invalid at once.
        """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The name or the id of the key.")
    var name: String

    @Option(help: "The time for which the old key works too: 24h, 30m, ...; 0 makes it invalid at once.")
    var overlap = TimeSpan(.seconds(86_400))

    func run() async throws {
      try await common.withStore { store, _ in
        let id = try await store.key(name).id
        try StandardStreams.printResult(try await store.rotateKey(id, overlap: overlap.duration))
      }
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Revokes a key.",
      discussion: """
        The key becomes invalid for good, with its old secret if it was rotated. Servers refuse it as soon as the database \
        notifies them, and at the latest after a second.
        """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The name or the id of the key. The id is the part between the underscores.")
    var name: String

    func run() async throws {
      try await common.withStore { store, _ in try await store.revokeKey(try await store.key(name).id) }
    }
  }
}

/// Slugs of topics on the command line, separated by commas.
struct TopicSlugs: ExpressibleByArgument {
  let slugs: [String]

  /// Each slug once, in order.
  var sorted: [String] { Set(slugs).sorted() }

  init?(argument: String) {
    slugs = argument.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    guard slugs.allSatisfy({ TopicSlug.isValid($0) }) else { return nil }
  }
}

extension CommandError {
  init(unknownTopics slugs: [String]) {
    self.init(
      """
      --topics must be existing topics; not found: \(slugs.joined(separator: ", ")). A running server lists them at \
      /v1/topics.
      """)
  }
}

extension KeyExpiry: ExpressibleByArgument {
  /// The maximum time: a hundred years.
  private static let maximum: Duration = .seconds(36_525 * 86_400)

  /// Reads a time with a unit, or a date (RFC 3339).
  public init?(argument: String) {
    if let date = RFC3339.date(from: argument) {
      self = .at(date)
    } else if let time = TimeSpan(argument: argument)?.duration, time > .zero, time <= Self.maximum {
      self = .after(time)
    } else {
      return nil
    }
  }
}

extension APIKey.Permission: ExpressibleByArgument {}
