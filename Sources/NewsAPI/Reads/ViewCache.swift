import NIOCore
package import NewsStore
import Synchronization

/// An answer as it was at a moment.
package struct View: Sendable {
  package let representation: Representation
  /// How far the snapshot was that it was made from.
  package let moment: Moment
  /// Whether it is given out in place of a newer one, which cannot be made.
  package let isStale: Bool

  package init(representation: Representation, moment: Moment, isStale: Bool = false) {
    self.representation = representation
    self.moment = moment
    self.isStale = isStale
  }
}

/// Keeps views until something in them has changed, and makes each once, however many ask for it.
package final class ViewCache: Sendable {
  fileprivate struct Entry {
    var view: View
    /// The last moment for which it is known to be right, and when that was seen.
    var moment: Moment
    var seen: ContinuousClock.Instant
    var lastUse: Int
  }

  /// A view in the making. Its snapshot will not be older than the moment.
  fileprivate struct Flight {
    let number: Int
    let moment: Moment
    /// What requesters wait for, and the making itself.
    let task: Task<View, any Error>
    let making: Task<View, any Error>
    var requesters = 0
    /// Whether the making has left the queue of its limiter.
    var hasBegun = false
    /// Whether those who waited have been given the view from before.
    var isGivenUp = false
  }

  fileprivate struct Shelf {
    var entries: [ViewKey: Entry] = [:]
    var flights: [ViewKey: Flight] = [:]
    var bytes = 0
    var uses = 0
    var flightsBegun = 0
  }

  private let shelf = Mutex(Shelf())
  private let budget: Int
  private let staleLimit: Duration
  private let isSilent: @Sendable () -> Bool
  private let probe: @Sendable () async -> Void
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - budget: Bytes that views may take, about.
  ///   - staleLimit: For how long a view from before a change is given out while the database does not answer.
  ///   - isSilent: Whether the database does not answer.
  ///   - probe: Asks the database something, so that it becomes known whether it answers.
  package init(
    budget: Int, staleLimit: Duration = .zero, isSilent: @escaping @Sendable () -> Bool = { false },
    probe: @escaping @Sendable () async -> Void = {},
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.budget = budget
    self.staleLimit = staleLimit
    self.isSilent = isSilent
    self.probe = probe
    self.now = now
  }

  /// The view of a key if it is in memory and right for a state.
  package func known(_ key: ViewKey, in state: VersionState) -> View? {
    let now = now()
    return shelf.withLock { $0.use(key, in: state, now) }
  }

  /// The view of a key, right for a state: from memory, from somebody else's making, or made now. Where the database does
  /// not answer, it may be that from before a change, which says so (`Representation.stale`).
  ///
  /// The making goes on if the caller is cancelled, unless nobody else waits and it is still in the queue of the limiter.
  /// Its error is not kept.
  package func view(
    _ key: ViewKey, in state: VersionState, limiter: ConcurrencyLimiter? = nil,
    make: @escaping @Sendable () async throws -> View
  ) async throws -> View {
    let (now, isSilent) = (now(), isSilent())
    let found = shelf.withLock { shelf -> Result<View, Missing> in
      if let view = shelf.use(key, in: state, now) { return .success(view) }
      if let flight = shelf.flights[key], state.isCurrent(key.subject, since: flight.moment),
        isSilent || !flight.isGivenUp
      {
        shelf.flights[key]?.requesters += 1
        return .failure(Missing(number: flight.number, task: flight.task))
      }
      shelf.flightsBegun += 1
      let number = shelf.flightsBegun
      let making = Task { try await self.fly(key, number, limiter, make) }
      var task = making
      if let stale = shelf.stale(key, in: state, now, limit: staleLimit) {
        task = Task { try await self.land(making, of: key, number, orGive: stale) }
      }
      shelf.flights[key] = Flight(number: number, moment: state.moment, task: task, making: making, requesters: 1)
      return .failure(Missing(number: number, task: task))
    }
    switch found {
    case .success(let view): return view
    case .failure(let missing):
      defer { shelf.withLock { $0.abandon(key, missing.number) }?.cancel() }
      return try await missing.task.value(waitingAtMost: Self.longestWait)
    }
  }

  /// Longer than a making can take: a queue, a connection, a statement and its cancellation.
  private static let longestWait: Duration = .seconds(60)

  private struct Missing: Error {
    let number: Int
    let task: Task<View, any Error>
  }

  private func fly(
    _ key: ViewKey, _ number: Int, _ limiter: ConcurrencyLimiter?, _ make: () async throws -> View
  ) async throws -> View {
    func begin() async throws -> View {
      shelf.withLock { shelf in
        if shelf.flights[key]?.number == number { shelf.flights[key]?.hasBegun = true }
      }
      return try await make()
    }
    let result: Result<View, any Error>
    do {
      if let limiter {
        result = .success(try await limiter.run(begin))
      } else {
        result = .success(try await begin())
      }
    } catch { result = .failure(error) }
    shelf.withLock { shelf in
      if shelf.flights[key]?.number == number { shelf.flights[key] = nil }
      if case .success(let view) = result { shelf.keep(view, for: key, now(), within: budget) }
    }
    return try result.get()
  }

  /// Waits for a making as long as the database answers.
  private func land(
    _ making: Task<View, any Error>, of key: ViewKey, _ number: Int, orGive stale: View
  ) async throws -> View {
    let (ends, end) = AsyncStream.makeStream(of: Bool.self)
    Task {
      _ = await making.result
      end.yield(true)
    }
    let listening = Task {
      if !isSilent() {
        try await Task.sleep(for: .milliseconds(50))
        // Otherwise the database is asked once a second, and its silence is known so much later.
        Task { await probe() }
      }
      while !isSilent() { try await Task.sleep(for: .milliseconds(50)) }
      end.yield(false)
    }
    defer { listening.cancel() }
    for await isMade in ends {
      guard isMade else { break }
      do { return try await making.value } catch StoreError.unavailable { return stale }
    }
    shelf.withLock { shelf in
      if shelf.flights[key]?.number == number { shelf.flights[key]?.isGivenUp = true }
    }
    return stale
  }
}

extension ViewCache.Shelf {
  /// A requester has its answer, or does not wait any longer.
  ///
  /// - Returns: The making, to be cancelled, if it is in a queue and nobody waits for it any more.
  mutating func abandon(_ key: ViewKey, _ number: Int) -> Task<View, any Error>? {
    guard let flight = flights[key], flight.number == number else { return nil }
    flights[key]?.requesters -= 1
    guard flight.requesters == 1, !flight.hasBegun else { return nil }
    flights[key] = nil
    return flight.making
  }

  /// The view of a key if nothing has happened to it.
  mutating func use(_ key: ViewKey, in state: VersionState, _ now: ContinuousClock.Instant) -> View? {
    guard let entry = entries[key], state.isCurrent(key.subject, since: entry.moment) else { return nil }
    uses += 1
    entries[key]?.lastUse = uses
    entries[key]?.seen = now
    // What has been looked up need not be looked up so far back again.
    if entry.moment.version < state.moment.version { entries[key]?.moment = state.moment }
    return entry.view
  }

  /// The view from before a change, if it was right until lately.
  func stale(_ key: ViewKey, in state: VersionState, _ now: ContinuousClock.Instant, limit: Duration) -> View? {
    guard key.mayBeStale, let entry = entries[key], entry.moment.epoch == state.moment.epoch, now - entry.seen <= limit
    else {
      return nil
    }
    return View(
      representation: entry.view.representation.stale(for: now - entry.seen), moment: entry.view.moment, isStale: true)
  }

  mutating func keep(_ view: View, for key: ViewKey, _ now: ContinuousClock.Instant, within budget: Int) {
    if let old = entries[key] {
      // An older snapshot may come later.
      guard old.moment.epoch != view.moment.epoch || old.view.moment.version <= view.moment.version else { return }
      bytes -= old.view.cost
    }
    uses += 1
    entries[key] = ViewCache.Entry(view: view, moment: view.moment, seen: now, lastUse: uses)
    bytes += view.cost
    if bytes > budget { evict(to: budget / 10 * 9) }
  }

  /// Drops what has not been used for longest.
  private mutating func evict(to budget: Int) {
    for (key, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) where bytes > budget {
      entries[key] = nil
      bytes -= entry.view.cost
    }
  }
}

extension View {
  /// Bytes, with those of a compressed variant, of the heads of answers to the usual conditions, and of what there is
  /// around them.
  fileprivate var cost: Int { representation.body.readableBytes * 3 / 2 + 4096 }
}
