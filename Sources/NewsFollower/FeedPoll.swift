import Foundation
import HTTPTypes
import News
import NewsFeeds
import NewsStore
import OutgoingHTTP

/// A poll of a feed: the request, the entries, and the time of the next poll.
struct FeedPoll: Sendable {
  /// The duration of a lease in seconds, longer than the timeouts of all requests of a poll. It is extended before each
  /// chunk. No feed is polled again earlier, even if the process dies.
  static let leaseTime: Double = 300
  private static let chunk = 250
  /// The maximum number of feeds of a page that are tried.
  static let maximumCandidates = 3
  /// The fields of a request without validators.
  private static let fields: HTTPFields = [
    .accept: "application/atom+xml, application/rss+xml, application/feed+json, */*;q=0.5"
  ]
  /// The maximum size of a validator in bytes. A longer one is not sent back.
  private static let maximumValidatorBytes = 1024

  let store: NewsStore
  let client: OutgoingClient
  let lease: SubscriptionLease
  let limits: NewItemLimits
  let clock: @Sendable () -> Date?
  /// Returns random numbers from 0 to 1.
  let random: @Sendable () -> Double

  /// The longest time in seconds before which a response so far asks for no request; nil if none does.
  private(set) var retryAfter: Double?

  /// Requests a feed and stores its entries.
  ///
  /// - Returns: nil if the lease was lost.
  /// - Throws: `CancellationError`, the errors of the store.
  mutating func run() async throws -> PollOutcome? {
    if let problem = lease.credentialsProblem {
      var outcome = failure(nil, problem)
      outcome.pauses = lease.credentialsProblem != nil
      return outcome
    }
    do {
      let isConditional = lease.etag != nil || lease.lastModified != nil
      let response = try await request(try OutgoingURL(lease.subscription.url), isConditional: isConditional)
      switch response.status {
      case 200: return try await outcome(of: response)
      case 304 where isConditional: return try success(response, schedule, ImportCounts())
      case 410:
        var outcome = failure(response, "the feed is gone for good (410)")
        outcome.pauses = true
        return outcome
      default: return failure(response, "the server has answered with the status \(response.status)")
      }
    } catch let error as OutgoingError {
      return failure(nil, "\(error)")
    }
  }

  private mutating func request(_ url: OutgoingURL, isConditional: Bool) async throws -> OutgoingResponse {
    var fields = Self.requestFields(for: url, lease.credentials)
    if isConditional {
      fields[.ifNoneMatch] = lease.etag
      fields[.ifModifiedSince] = lease.lastModified
    }
    let response = try await client.send(
      OutgoingRequest(url: url, fields: fields), at: lease.start, refresh: Self.refresh)
    let wait = PollSchedule.retryAfter(response.fields, now: lease.start)
    retryAfter = [retryAfter, wait].compactMap { $0 }.max()
    return response
  }

  /// Returns the fields of a request without validators. Credentials are for their own origin only.
  static func requestFields(for url: OutgoingURL, _ credentials: FeedCredentials?) -> HTTPFields {
    var fields = Self.fields
    if let credentials, credentials.origin == url.origin { fields[.authorization] = credentials.field }
    return fields
  }

  /// Returns the address to which a page leads on in place of a feed.
  ///
  /// - Throws: The errors of `ComputePool.run`.
  @Sendable static func refresh(_ response: OutgoingResponse) async throws -> String? {
    let field = HTTPField.Name("Refresh").flatMap { response.fields[$0] }
    return try await ComputePool.shared.run(.feed, for: response.url.text) {
      field.flatMap { FeedDiscovery.refresh(field: $0, of: response.body, at: response.url.text) }
        ?? FeedDiscovery.refresh(of: response.body, at: response.url.text)
    }
  }

  private mutating func outcome(of response: OutgoingResponse) async throws -> PollOutcome? {
    guard let reading = try await read(response) else { return nil }
    if reading.isFeed {
      try await noteHubs(of: reading, response)
      return try await outcome(of: reading, response)
    }
    // A feed that was read before may be replaced by an error page with links for a while.
    if lease.subscription.lastSuccess == nil { return try await discovered(on: response, reading) }
    return failure(response, "the response is not a feed: \(reading.problem ?? "it is empty")")
  }

  private func outcome(of reading: FeedReading, _ response: OutgoingResponse) async throws -> PollOutcome {
    // A feed that breaks off after too many new entries is paused as well.
    if reading.counts.deferred > 0 { return try paused(by: reading, response) }
    if let problem = reading.problem {
      var outcome = failure(response, "the response is not a complete feed: \(problem)")
      outcome.entries = reading.counts
      outcome.losses = reading.losses
      outcome.pacing = try pacing(with: reading.tally)
      return outcome
    }
    let last = schedule
    // Sorting the dates of very many entries takes long.
    let (dates, properties, now) = (reading.dates, reading.properties, lease.start)
    var next = try await ComputePool.shared.run(.feed, for: lease.subscription.url, bytes: dates.count * 8) {
      PollSchedule(dates: dates, hints: properties, now: now)
    }
    .estimated(after: last, foundEntries: reading.counts.inserted + reading.counts.updated > 0)
    next.tally = reading.tally
    var outcome = try success(response, next, reading.counts)
    outcome.title = reading.properties.title
    outcome.language = reading.properties.language
    outcome.losses = reading.losses
    // Changes that were left out are read again by the next poll.
    outcome.validators =
      reading.counts.postponed > 0
      ? (nil, nil) : (Self.validator(response.fields[.eTag]), Self.validator(response.fields[.lastModified]))
    outcome.pauses = reading.properties.hasEnded
    if outcome.pauses {
      outcome.failure = (status: nil, message: "the feed has ended: it says that it will not be updated any more")
    }
    return outcome
  }

  /// Returns the outcome of a poll that has found more new entries than are stored. The rest is stored by the polls after
  /// an editor has resumed the subscription, which request the whole feed.
  private func paused(by reading: FeedReading, _ response: OutgoingResponse) throws -> PollOutcome {
    let stored = reading.counts.inserted
    let bound =
      stored == limits.perPoll
      ? "more than \(limits.perPoll) new entries" : "brought more than \(limits.perDay) new entries within a day"
    var outcome = failure(
      response, "the feed has \(bound). \(stored) are stored now, and the rest once an editor resumes the feed")
    // The response is not at fault.
    outcome.failure?.status = nil
    (outcome.entries, outcome.pauses) = (reading.counts, true)
    outcome.title = reading.properties.title
    outcome.language = reading.properties.language
    outcome.losses = reading.losses
    outcome.pacing = try pacing(with: reading.tally)
    return outcome
  }

  /// Returns the schedule as it was, with another tally.
  private func pacing(with tally: WriteTally?) throws -> Data {
    var last = schedule
    last.tally = tally
    return try JSONEncoder().encode(last)
  }

  private func noteHubs(of reading: FeedReading, _ response: OutgoingResponse) async throws {
    if reading.problem == nil { try await HubOffer(response, reading.properties).store(in: store, lease) }
  }

  /// Follows the links of a page to its feed.
  ///
  /// - Parameter reading: The attempt to read the page as a feed.
  private mutating func discovered(on page: OutgoingResponse, _ reading: FeedReading) async throws -> PollOutcome? {
    let links = try await FeedReading.links(in: page)
    var problem: String?
    for link in links.prefix(Self.maximumCandidates) {
      do {
        let url = try OutgoingURL(link.address)
        let response = try await request(url, isConditional: false)
        guard response.status == 200 else {
          problem = problem ?? "\(url.text): the server has answered with the status \(response.status)"
          continue
        }
        // The feed is not stored before it is known to be the one to follow.
        let trial = try await FeedReading.reading(response, at: lease.start) { _ in true }
        guard let trial, trial.isFeed, trial.problem == nil else {
          problem = problem ?? "\(url.text): \(trial?.problem ?? "is not a feed")"
          continue
        }
        guard let feed = try await read(response) else { return nil }
        try await noteHubs(of: feed, response)
        var outcome = try await outcome(of: feed, response)
        outcome.movedTo = newAddress(response.movedTo ?? url)
        return outcome
      } catch let error as OutgoingError {
        problem = problem ?? "\(link.address): \(error)"
      }
    }
    if let problem { return failure(page, "the address is that of a page whose feed cannot be read: \(problem)") }
    return failure(
      page, "the response is neither a feed nor a page that links to one: \(reading.problem ?? "it is empty")")
  }

  /// Stores the entries of a response.
  ///
  /// - Returns: nil if the lease was lost.
  private func read(_ response: OutgoingResponse) async throws -> FeedReading? {
    let subscription = lease.subscription
    var batch = ImportBatch(
      now: lease.start,
      assignment: .init(
        topics: subscription.topics, language: subscription.language,
        state: subscription.state == .draft ? .draft : .published))
    var writing = Writing(tally: .current(schedule.tally, at: lease.start.timeIntervalSince1970))
    var notes: [String] = []
    let reading = try await FeedReading.reading(response, at: lease.start) { entry in
      // The rest of the feed is read for its properties only, so that it makes no topics either.
      if writing.counts.deferred > 0 { return true }
      if let note = batch.add(entry) { notes.append(note) }
      return batch.items.count < Self.chunk ? true : try await write(&batch, &writing)
    }
    guard var reading, try await write(&batch, &writing) else { return nil }
    reading.counts = writing.counts
    reading.tally = writing.tally.changes + writing.tally.topics > 0 ? writing.tally : nil
    for note in notes { reading.losses.add(note) }
    if writing.counts.postponed > 0 {
      reading.losses.add(
        "\(writing.counts.postponed) changed entries are left for a later poll: a feed may change at most "
          + "\(limits.changesPerPoll) items in a poll and \(limits.changesPerDay) in a day")
    }
    if !writing.refusedTopics.isEmpty {
      reading.losses.add(
        "\(writing.refusedTopics.count) categories are left out: a feed may add at most \(limits.topicsPerPoll) topics in a "
          + "poll and \(limits.topicsPerDay) in a day")
    }
    return reading
  }

  /// The state of the writes of a poll.
  private struct Writing {
    var counts = ImportCounts()
    var tally: WriteTally
    /// The topics that do not exist yet, of entries that were not written either.
    var topics: [String: TopicContent] = [:]
    /// The number of topics that were added.
    var addedTopics = 0
    /// The topics that were left out because of a limit.
    var refusedTopics: Set<String> = []
  }

  /// - Returns: Whether the lease was still valid.
  private func write(_ batch: inout ImportBatch, _ writing: inout Writing) async throws -> Bool {
    let existing = batch.hasNewNames ? try await store.topicTitles().bySlug : [:]
    let taking = batch
    // Categories are names that a stranger has chosen, each of which is transliterated.
    let (rest, topics) = try await ComputePool.shared.run(.feed, for: lease.subscription.url) {
      var batch = taking
      let topics = batch.takeTopics(beside: existing)
      return (batch, topics)
    }
    batch = rest
    writing.topics.merge(topics) { known, _ in known }
    let items = batch.takeItems()
    if items.isEmpty { return true }
    let state = writing
    guard let written = try await store.importing(for: lease.subscription.id, { try await write(items, state) }) else {
      return false
    }
    writing = written
    return true
  }

  /// - Returns: nil if the lease was lost.
  private func write(_ items: [ImportedItem], _ last: Writing) async throws -> Writing? {
    guard try await store.extendLease(lease, by: Self.leaseTime, at: clock()) else { return nil }
    var (items, writing) = (items, last)
    let new = min(limits.perPoll, limits.perDay - lease.newItems) - writing.counts.inserted
    let changed = min(limits.changesPerPoll - writing.counts.updated, limits.changesPerDay - writing.tally.changes)
    let maximum = ImportLimits(new: max(0, new), changed: max(0, changed))
    if !writing.topics.isEmpty { try await addTopics(of: &items, maximum, &writing) }
    let counts = try await store.importItems(items, limits: maximum)
    writing.counts += counts
    writing.tally.changes += counts.updated
    return writing
  }

  /// Adds the topics of the entries that will be written, as many as the feed may add. The others are removed from the
  /// entries.
  private func addTopics(
    of items: inout [ImportedItem], _ maximum: ImportLimits, _ writing: inout Writing
  ) async throws {
    let written = try await store.itemsToImport(items, limits: maximum)
    let room = min(limits.topicsPerPoll - writing.addedTopics, limits.topicsPerDay - writing.tally.topics)
    var added: [String: TopicContent] = [:]
    for index in items.indices where written.contains(index) {
      for slug in items[index].content.topics where added[slug] == nil {
        guard let topic = writing.topics[slug] else { continue }
        if added.count < room { added[slug] = topic } else { writing.refusedTopics.insert(slug) }
      }
    }
    try await store.ensureTopics(added)
    writing.addedTopics += added.count
    writing.tally.topics += added.count
    for slug in added.keys { writing.topics[slug] = nil }
    for index in items.indices { items[index].content.topics.removeAll { writing.topics[$0] != nil } }
  }

  /// The schedule as of the last poll.
  private var schedule: PollSchedule {
    lease.pacing.flatMap { try? JSONDecoder().decode(PollSchedule.self, from: $0) } ?? PollSchedule()
  }

  private func success(
    _ response: OutgoingResponse, _ next: PollSchedule, _ counts: ImportCounts
  ) throws -> PollOutcome {
    let isRevalidation = response.status == 304
    var next = isRevalidation ? next.estimated(after: next, foundEntries: false) : next
    next.noteFreshness(response.fields, now: lease.start, isRevalidation: isRevalidation)
    var outcome = PollOutcome(wait: next.wait(now: lease.start, fields: response.fields, jitter: random()))
    outcome.retryAfter = PollSchedule.retryAfter(response.fields, now: lease.start)
    outcome.pacing = try JSONEncoder().encode(next)
    outcome.movedTo = response.movedTo.flatMap(newAddress)
    outcome.entries = counts
    return outcome
  }

  /// Returns the new address of the feed. One at another server would lose the password, so that an editor has to enter it.
  private func newAddress(_ url: OutgoingURL) -> String? {
    lease.credentials.map { $0.origin == url.origin } ?? true ? url.text : nil
  }

  /// - Parameter response: The response; nil if there is none.
  private func failure(_ response: OutgoingResponse?, _ message: String) -> PollOutcome {
    var outcome = PollOutcome(
      wait: schedule.backoff(failures: lease.failures, retryAfter: retryAfter, now: lease.start, jitter: random()))
    // The next poll may request all addresses again.
    outcome.retryAfter = retryAfter
    outcome.failure = (status: response?.status, message: String(message.terminalSafe.prefix(1000)))
    return outcome
  }

  private static func validator(_ text: String?) -> String? {
    text.flatMap { $0.utf8.count <= maximumValidatorBytes ? $0 : nil }
  }
}
