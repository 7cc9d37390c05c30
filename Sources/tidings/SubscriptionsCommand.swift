public import ArgumentParser
import Foundation
import Logging
public import News
import NewsFollower
import NewsStore
import OutgoingHTTP

struct SubscriptionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscriptions",
    abstract: "Adds, lists, polls and removes the external feeds that the server follows.",
    subcommands: [Add.self, List.self, Poll.self, Remove.self, ImportFeeds.self, ExportFeeds.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Follows a feed and polls it once.",
      discussion: """
        Prints the id of the subscription. Afterwards, running servers poll the feed at intervals that follow its own \
        cadence and hints. If the address is that of a page that links to a feed, the feed is followed. If the first poll \
        fails, the subscription remains, and the exit status is 1.
        """)

    @OptionGroup var common: CommonOptions

    @OptionGroup var options: SubscriptionOptions

    @Option(help: "The name of the feed for editors, in place of its own title.")
    var title: String?

    @Option(help: "The user for a feed that asks for a password (HTTP Basic).")
    var feedUser: String?

    @Option(help: "A file with the password on a single line, or - for standard input.")
    var passwordFile: String?

    @Argument(help: "The address of the feed, or of a page that links to it.")
    var url: String

    func validate() throws {
      try options.validate()
      if (feedUser == nil) != (passwordFile == nil) {
        throw ValidationError("--feed-user and --password-file belong together.")
      }
      if let feedUser, feedUser.isEmpty || feedUser.contains(":") || feedUser.utf8.count > 256 {
        throw ValidationError("--feed-user must have 1 to 256 bytes without colons.")
      }
      if let title, title.utf8.count > 1024 || title.allSatisfy(\.isWhitespace) {
        throw ValidationError("--title must have 1 to 1024 bytes and must not be blank.")
      }
    }

    func run() async throws {
      try await common.withFollower { store, follower in
        let address = SubscriptionAddress(url)
        let content = SubscriptionContent(
          url: try OutgoingURL(address.url).text, title: title, topics: options.topics?.sorted ?? [],
          state: options.state, language: options.language, user: feedUser ?? address.user,
          password: try passwordFile.map(SubscriptionAddress.password(inFile:)) ?? address.password)
        let id = UUID()
        do {
          // The options precede the user and the password of the address.
          if feedUser == nil { try address.checkCredentials() }
          _ = try await store.createSubscription(id, content)
        } catch StoreError.alreadyFollowed(let other) {
          throw CommandError("the subscription \(other.uuidString.lowercased()) has this address already.")
        } catch StoreError.unknownTopics(let slugs) {
          throw CommandError(unknownTopics: slugs)
        } catch StoreError.invalidFields(let errors) {
          throw CommandError(invalid: errors)
        }
        try StandardStreams.printResult(id.uuidString.lowercased())
        let subscription = try await SubscriptionsCommand.poll(id, follower)?.subscription
        if let subscription, subscription.url != content.url {
          StandardStreams.printDiagnostic("tidings: the feed is at \(subscription.url)")
        }
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists all subscriptions.",
      discussion: """
        Each line has seven columns, separated by tabs, or aligned below headings on a terminal: the id, the address, the state of new items, the topics, the next \
        poll or "paused", the last error, and the name.
        """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
      try await common.withStore { store, _ in
        let rows = try await store.subscriptions().map { subscription in
          [
            subscription.id.uuidString.lowercased(), subscription.url, subscription.state.rawValue,
            subscription.topics.joined(separator: ","),
            subscription.nextPoll.map { RFC3339.string(from: $0) } ?? "paused",
            subscription.lastError?.message.terminalSafe ?? "", subscription.title?.terminalSafe ?? "",
          ]
        }
        try StandardStreams.printList(["ID", "ADDRESS", "STATE", "TOPICS", "NEXT POLL", "LAST ERROR", "NAME"], rows)
      }
    }
  }

  struct Poll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Polls feeds now.",
      discussion: """
        Without an id, it polls all feeds that are not paused. Prints the id of each feed that was read, and the numbers \
        of new and changed items. A feed whose server has asked for a wait is not requested. The exit status is 1 if a \
        feed could not be read.
        """)

    /// The number of feeds that are polled at a time.
    private static let width = 8

    @OptionGroup var common: CommonOptions

    @Argument(help: "The ids of subscriptions.", transform: CommonOptions.id)
    var ids: [UUID] = []

    func run() async throws {
      try await common.withFollower { store, follower in
        var ids = ids[...]
        if ids.isEmpty { ids = try await store.subscriptions().filter { !$0.paused }.map(\.id)[...] }
        let hasFailed = try await withThrowingTaskGroup(of: Bool.self) { group in
          for id in ids.prefix(Self.width) { group.addTask { try await Self.report(id, follower) } }
          ids = ids.dropFirst(Self.width)
          var hasFailed = false
          while let isRead = try await group.next() {
            hasFailed = hasFailed || !isRead
            if let id = ids.popFirst() { group.addTask { try await Self.report(id, follower) } }
          }
          return hasFailed
        }
        if hasFailed { throw FailureCode.failed }
      }
    }

    /// Polls a feed and prints the result.
    ///
    /// - Returns: Whether the feed was read.
    private static func report(_ id: UUID, _ follower: FeedFollower) async throws -> Bool {
      let counts: ImportCounts?
      do {
        counts = try await SubscriptionsCommand.poll(id, follower)?.counts
      } catch let error as CommandError {
        StandardStreams.printDiagnostic("tidings: \(id.uuidString.lowercased()): \(error.description)")
        return false
      }
      guard let counts else { return true }
      try StandardStreams.printResult(
        "\(id.uuidString.lowercased())\tinserted \(counts.inserted), updated \(counts.updated)")
      return true
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Stops following a feed.", discussion: "Its items stay.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The id of the subscription.", transform: CommonOptions.id)
    var id: UUID

    func run() async throws {
      try await common.withStore { store, _ in
        do {
          try await store.removeSubscription(id, if: .exists)
        } catch StoreError.notFound {
          throw CommandError.unknownSubscription(id)
        }
      }
    }
  }

  /// Polls a feed.
  ///
  /// - Returns: nil if a server polls it at present.
  /// - Throws: `CommandError` if it cannot be read.
  fileprivate static func poll(
    _ id: UUID, _ follower: FeedFollower
  ) async throws -> (subscription: Subscription, counts: ImportCounts)? {
    let attempt: FeedFollower.Attempt
    do {
      attempt = try await follower.poll(id)
    } catch StoreError.notFound {
      throw CommandError.unknownSubscription(id)
    }
    switch attempt {
    case .finished(let subscription, let counts):
      if let error = subscription.lastError { throw CommandError("\(error.message).") }
      for message in subscription.losses?.messages ?? [] {
        StandardStreams.printDiagnostic("tidings: \(id.uuidString.lowercased()): \(message.terminalSafe)")
      }
      return (subscription, counts)
    case .busy:
      StandardStreams.printDiagnostic("tidings: \(id.uuidString.lowercased()): a server polls the feed at present.")
      return nil
    case .notBefore(let date):
      throw CommandError("its server asks for no request before \(RFC3339.string(from: date)) (Retry-After).")
    }
  }
}

/// The properties that the commands give to new subscriptions.
struct SubscriptionOptions: ParsableArguments {
  @Option(
    help: "The topics of new items, such as sport,politics. Without any, the categories of the feed become topics.")
  var topics: TopicSlugs?

  @Option(help: "The state of new items: draft or published.")
  var state: Subscription.State = .published

  @Option(help: "The language of entries that name none, such as en.")
  var language: String?

  func validate() throws {
    if let topics, topics.sorted.count > 16 { throw ValidationError("--topics must have at most 16 topics.") }
    if let language, !LanguageTag.isValid(language) {
      throw ValidationError("--language must be a BCP 47 tag such as en or pt-BR, not \(language.terminalSafe).")
    }
  }
}

extension CommandError {
  init(invalid errors: [FieldError]) {
    self.init(errors.map { "the \($0.field) \($0.rule)" }.joined(separator: "; ") + ".")
  }

  static func unknownSubscription(_ id: UUID) -> CommandError {
    CommandError(
      "there is no subscription with the id \(id.uuidString.lowercased()). `tidings subscriptions list` shows the ids.")
  }
}

extension CommonOptions {
  /// Runs the body of a command with a store and a follower, and shuts both down at the end.
  fileprivate func withFollower(_ body: (NewsStore, FeedFollower) async throws -> Void) async throws {
    try await reporting {
      let (settings, loaded) = try load()
      var logger = loaded
      // The command prints the failures of polls itself.
      if logger.logLevel == .info { logger.logLevel = .notice }
      try await settings.withStore(logger) { [logger] store in
        try await settings.withOutgoingClient { client in
          try await body(store, FeedFollower(store: store, client: client, logger: logger))
        }
      }
    }
  }
}

extension Settings {
  /// Runs the body with a client for addresses that come from outside, and shuts the client down at the end.
  func withOutgoingClient(
    limits: OutgoingLimits = OutgoingLimits(), _ body: (OutgoingClient) async throws -> Void
  ) async throws {
    let contact = self.publicURL.map { " (+\($0))" } ?? ""
    let client = OutgoingClient(
      policy: addressPolicy, userAgent: "Tidings/\(TidingsVersion.current)\(contact)", limits: limits)
    try await finishing(with: client.shutdown) { try await body(client) }
  }

  /// The rule for addresses that come from outside.
  var addressPolicy: AddressPolicy {
    var policy = AddressPolicy()
    policy.allowedNetworks = self.allowedNetworks
    policy.allowsPlainHTTP = self.allowsPlainHTTP
    return policy
  }
}

extension Subscription.State: ExpressibleByArgument {}
