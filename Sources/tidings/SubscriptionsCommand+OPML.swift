import ArgumentParser
import Foundation
import News
import NewsFeeds
import NewsFollower
import NewsStore
import OutgoingHTTP

extension SubscriptionsCommand {
  struct ImportFeeds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Follows the feeds of an OPML file, as feed readers export it.",
      discussion: """
        The folders of the file become topics, which are created if they do not exist. With --topics, its folders are \
        ignored. Running servers poll the feeds at once.

        Feeds that are followed already and addresses that cannot be requested are reported on standard error and \
        skipped. Prints one line of counts. The exit status is 1 if the file cannot be read or is not OPML.
        """)

    @OptionGroup var common: CommonOptions

    @OptionGroup var options: SubscriptionOptions

    @Argument(help: "The file, or - for standard input.")
    var path: String

    func run() async throws {
      try await common.withStore { store, _ in
        let list = try read()
        for problem in list.problems { report("\(problem)") }
        var added = 0
        var names = TopicNames(try await store.topicTitles().bySlug)
        for feed in list.feeds {
          let address = SubscriptionAddress(feed.address)
          do {
            try await add(feed, at: address, to: store, &names)
            added += 1
          } catch StoreError.alreadyFollowed(let other) {
            report(
              "\(address.url) is skipped: the subscription \(other.uuidString.lowercased()) has this address already")
          } catch StoreError.unknownTopics(let slugs) {
            throw CommandError(unknownTopics: slugs)
          } catch let error as OutgoingError {
            report("\(address.url) is skipped: \(error)")
          } catch StoreError.invalidFields(let errors) {
            report("\(address.url) is skipped: \(CommandError(invalid: errors))")
          }
        }
        let read = list.feeds.count + list.problems.count
        try StandardStreams.printResult("read \(read), added \(added), skipped \(read - added)")
      }
    }

    private func read() throws -> OPML {
      let data: Data
      do {
        let file = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
        var bytes = Data()
        // A file that is too large is refused by the parser.
        while bytes.count <= OPML.maximumBytes, let part = try file.read(upToCount: 1 << 20), !part.isEmpty {
          bytes += part
        }
        data = bytes
      } catch {
        throw CommandError("\(path) cannot be read: \(SystemReason(error)).")
      }
      do throws(FeedProblem) {
        return try OPML(reading: data)
      } catch {
        throw CommandError("\(path), \(error.position): \(error.message).")
      }
    }

    private func add(
      _ feed: OPML.Feed, at address: SubscriptionAddress, to store: NewsStore, _ names: inout TopicNames
    ) async throws {
      let url = try OutgoingURL(address.url).text
      try address.checkCredentials()
      var found: Set<String> = []
      if options.topics == nil {
        // "und" is BCP 47 for an unknown language.
        for topic in TopicNames.ordered(feed.topics) {
          let slug = names.slug(for: topic)
          try await store.ensureTopics([slug: TopicContent(titles: ["und": topic.label], position: 0)])
          found.insert(slug)
        }
      }
      let slugs = options.topics?.sorted ?? found.sorted()
      _ = try await store.createSubscription(
        UUID(),
        SubscriptionContent(
          url: url, title: feed.title, topics: slugs, state: options.state, language: options.language ?? feed.language,
          user: address.user, password: address.password))
    }

    private func report(_ message: String) {
      StandardStreams.printDiagnostic("\(path.terminalSafe): \(message.terminalSafe)")
    }
  }

  struct ExportFeeds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Prints all subscriptions as OPML, which feed readers and `subscriptions import` read.",
      discussion: "Topics become folders. OPML does not contain the state of new items, nor whether a feed is paused.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
      try await common.withStore { store, _ in
        let topics = try await store.topics().topics
        let titles = Dictionary(topics.map { ($0.slug, $0.titles) }) { first, _ in first }
        let feeds = try await store.subscriptions().map { subscription in
          OPML.Feed(
            address: subscription.url, title: subscription.title, language: subscription.language,
            topics: subscription.topics.map { slug in
              FeedCategory(slug: slug, label: Self.label(slug, titles[slug] ?? [:], subscription.language))
            })
        }
        let list = OPML(title: "Feeds followed by Tidings", feeds: feeds).data(createdAt: Date())
        try StandardStreams.printResult(String(decoding: list, as: UTF8.self).trimmingCharacters(in: .newlines))
      }
    }

    /// Returns the title of a topic, in a language if it has one.
    private static func label(_ slug: String, _ titles: [String: String], _ language: String?) -> String {
      language.flatMap { titles[$0] } ?? titles.min { $0.key < $1.key }?.value ?? slug
    }
  }
}
