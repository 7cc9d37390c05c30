package import Foundation
import PostgresClient
import Synchronization

/// Forms groups of the entries that arrive while earlier groups run, so that many of them share a commit.
///
/// A lone entry starts at once. When many writers are active, a group waits for its share of their entries, because small
/// groups spend most of their time on what each group does once. The writers of a group that has just ended are about to
/// send their next entries. Entries with the same id run one after the other, those of a party (`QueueParty`) in the order of
/// their arrival; all others may overtake each other. Parties take turns: one with very many entries delays no other. An entry that leaves its group, because something else holds what it needs, runs alone, and
/// delays only the entries of its own id.
package final class GroupQueue<Entry: Sendable, Outcome: Sendable>: Sendable {
  /// The limits of groups.
  package struct Limits: Sendable {
    /// The maximum number of groups that run at a time.
    package var groups = 2
    /// The wait after which a small group begins although no other runs.
    package var gathering: Duration = .milliseconds(2)
    /// The wait after which a small group begins beside another, which may be stuck.
    package var patience: Duration = .milliseconds(50)
    /// The maximum number of entries in a group.
    package var entries = 64
    /// The maximum size of the entries of a group in bytes. A single entry may be larger.
    package var bytes = 1 << 20
    /// The maximum number of entries that run alone at a time.
    package var alone = 4
    /// The maximum number of entries of a party that wait. A further one fails at once.
    package var waiting = 1024
    /// The maximum wait of an entry before it runs.
    package var wait: Duration = .seconds(5)

    package init() {}
  }

  /// The outcome of an entry in a group; nil if it has left the group without an effect and is to run alone.
  package typealias Result = Swift.Result<Outcome, any Error>?

  /// Counts since the start.
  package struct Counts: Sendable, Equatable {
    package var groups = 0
    package var entries = 0
    /// The entries that have left their groups.
    package var left = 0
    /// The sum of the waits of entries until their groups began.
    package var waited: Duration = .zero
  }

  private struct Waiting {
    let number: Int
    let id: UUID
    let party: String?
    let bytes: Int
    let entry: Entry
    let arrival: ContinuousClock.Instant
    let continuation: CheckedContinuation<Outcome, any Error>
  }

  private struct State {
    var waiting: [Waiting] = []
    var alone: [Waiting] = []
    /// The ids of the entries that run, or are to run alone.
    var busy: Set<UUID> = []
    /// The numbers of entries of the groups that run.
    var groups: [Int] = []
    /// The number of entries that have recently waited or run in groups at a time. It falls by a quarter with each group.
    var demand = 0
    /// Whether a small group is to begin later, if no other runs, or beside another.
    var isGathering = false
    var isPatient = false
    var aloneRunning = 0
    var lastNumber = 0
    var counts = Counts()
  }

  private let state = Mutex(State())
  private let limits: Limits
  private let runGroup: @Sendable ([Entry]) async -> [Result]
  private let runAlone: @Sendable (Entry) async throws -> Outcome

  /// - Parameters:
  ///   - runGroup: Runs entries with different ids together. It returns a result for each, in order.
  ///   - runAlone: Runs an entry that has left its group.
  package init(
    limits: Limits = Limits(), runGroup: @escaping @Sendable ([Entry]) async -> [Result],
    runAlone: @escaping @Sendable (Entry) async throws -> Outcome
  ) {
    self.limits = limits
    self.runGroup = runGroup
    self.runAlone = runAlone
  }

  package var counts: Counts { state.withLock { $0.counts } }
  /// The number of entries that wait.
  package var waiting: Int { state.withLock { $0.waiting.count + $0.alone.count } }

  /// Runs an entry in the next group that has room for it.
  ///
  /// - Parameters:
  ///   - id: The id of the changed item. Entries with the same id never run together.
  ///   - bytes: The approximate size of the entry.
  /// - Throws: `StoreError.unavailable` if the entry has not begun within `Limits.wait`, or too many wait;
  ///   `CancellationError` if the caller was cancelled before it began; the error of the entry.
  package func run(_ entry: Entry, id: UUID, bytes: Int) async throws -> Outcome {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return try await Deadlines.shared.wait(atMost: limits.wait) { error in
      self.remove(number, throwing: error)
    } begin: { continuation in
      let party = QueueParty.current
      let isFull = state.withLock { state in
        guard state.waiting.count(where: { $0.party == party }) < limits.waiting else { return true }
        state.waiting.append(
          Waiting(
            number: number, id: id, party: party, bytes: bytes, entry: entry, arrival: .now,
            continuation: continuation))
        return false
      }
      if isFull { return continuation.resume(throwing: StoreError.unavailable) }
      // The entry of a caller that was cancelled before does not begin.
      if !Task.isCancelled { startGroups() }
    }
  }

  /// Ends the wait of an entry that has not begun, or has not begun alone.
  private func remove(_ number: Int, throwing error: any Error) {
    let removed = state.withLock { state -> Waiting? in
      if let index = state.waiting.firstIndex(where: { $0.number == number }) { return state.waiting.remove(at: index) }
      guard let index = state.alone.firstIndex(where: { $0.number == number }) else { return nil }
      state.busy.remove(state.alone[index].id)
      return state.alone.remove(at: index)
    }
    guard let removed else { return }
    removed.continuation.resume(throwing: error)
    startGroups()
  }

  /// The next step of the queue.
  private enum Step {
    case begin([Waiting])
    /// To look again after `Limits.gathering`, or after `Limits.patience`.
    case gather, bePatient
    case nothing
  }

  private func startGroups() {
    while true {
      switch state.withLock({ nextStep(&$0) }) {
      case .begin(let group):
        // A detached task, because the group does not belong to the caller that begins it.
        Task.detached { await self.run(group) }
      case .gather:
        Task.detached { [self] in
          try? await Task.sleep(for: limits.gathering)
          state.withLock { $0.isGathering = false }
          startGroups()
        }
      case .bePatient:
        _ = Deadlines.shared.set(after: limits.patience) { [self] in
          state.withLock { $0.isPatient = false }
          startGroups()
        }
      case .nothing: return
      }
    }
  }

  private func run(_ group: [Waiting]) async {
    let results = await runGroup(group.map(\.entry))
    precondition(results.count == group.count, "a group has a result for each entry")
    finish(group, results)
    startGroups()
    startAlone()
  }

  private func nextStep(_ state: inout State) -> Step {
    guard state.groups.count < limits.groups else { return .nothing }
    let (group, rest, isFull) = nextGroup(state)
    guard let first = group.min(by: { $0.number < $1.number }) else { return .nothing }
    state.demand = max(state.demand, group.count + state.groups.reduce(0, +))
    let share = min(state.demand * 5 / 6 / limits.groups, limits.entries)
    let wait = state.groups.isEmpty ? limits.gathering : limits.patience
    let now = ContinuousClock.now
    if group.count >= share || isFull || now - first.arrival >= wait {
      begin(group, leaving: rest, &state, now)
      return .begin(group)
    }
    if state.groups.isEmpty {
      guard !state.isGathering else { return .nothing }
      state.isGathering = true
      return .gather
    }
    guard !state.isPatient else { return .nothing }
    state.isPatient = true
    return .bePatient
  }

  /// Returns the entries that can run together, the others, and whether an entry has no room among the former.
  private func nextGroup(_ state: State) -> (group: [Waiting], rest: [Waiting], isFull: Bool) {
    var (group, rest): ([Waiting], [Waiting]) = ([], [])
    var (bytes, isFull) = (0, false)
    var ids: Set<UUID> = []
    for waiting in Self.inTurn(state.waiting) {
      // A later entry of the same id must not overtake.
      let isFirst = ids.insert(waiting.id).inserted && !state.busy.contains(waiting.id)
      if isFirst, !isFull, group.isEmpty || bytes + waiting.bytes <= limits.bytes {
        group.append(waiting)
        bytes += waiting.bytes
        isFull = group.count == limits.entries || bytes >= limits.bytes
      } else {
        isFull = isFull || isFirst
        rest.append(waiting)
      }
    }
    // The order of arrival is that of the numbers.
    return (group, rest.sorted { $0.number < $1.number }, isFull)
  }

  /// Returns entries in the order in which parties take turns: first the first one of each party, then the second ones.
  private static func inTurn(_ waiting: [Waiting]) -> [Waiting] {
    guard let first = waiting.first, waiting.contains(where: { $0.party != first.party }) else { return waiting }
    var counts: [String?: Int] = [:]
    var rounds: [(round: Int, waiting: Waiting)] = []
    for entry in waiting {
      rounds.append((counts[entry.party, default: 0], entry))
      counts[entry.party, default: 0] += 1
    }
    return rounds.sorted { ($0.round, $0.waiting.number) < ($1.round, $1.waiting.number) }.map(\.waiting)
  }

  private func begin(
    _ group: [Waiting], leaving rest: [Waiting], _ state: inout State, _ now: ContinuousClock.Instant
  ) {
    state.waiting = rest
    state.groups.append(group.count)
    state.demand = max(state.groups.reduce(0, +), state.demand * 3 / 4)
    state.busy.formUnion(group.map(\.id))
    state.counts.groups += 1
    state.counts.entries += group.count
    for waiting in group { state.counts.waited += now - waiting.arrival }
  }

  private func finish(_ group: [Waiting], _ results: [Result]) {
    state.withLock { state in
      if let index = state.groups.firstIndex(of: group.count) { state.groups.remove(at: index) }
      for (waiting, result) in zip(group, results) {
        if result == nil {
          state.alone.append(waiting)
          state.counts.left += 1
        } else {
          state.busy.remove(waiting.id)
        }
      }
    }
    for (waiting, result) in zip(group, results) {
      if let result { waiting.continuation.resume(with: result) }
    }
  }

  private func startAlone() {
    while let next = state.withLock({ nextAlone(&$0) }) {
      Task.detached { [self] in
        let result: Swift.Result<Outcome, any Error>
        do { result = .success(try await runAlone(next.entry)) } catch { result = .failure(error) }
        state.withLock { state in
          state.aloneRunning -= 1
          state.busy.remove(next.id)
        }
        next.continuation.resume(with: result)
        startAlone()
        startGroups()
      }
    }
  }

  private func nextAlone(_ state: inout State) -> Waiting? {
    guard state.aloneRunning < limits.alone, !state.alone.isEmpty else { return nil }
    state.aloneRunning += 1
    return state.alone.removeFirst()
  }
}
