import NIOCore
package import NewsStore
import Synchronization

/// An answer as it was at a moment.
package struct View: Sendable {
  package let representation: Representation
  /// How far the snapshot was that it was made from.
  package let moment: Moment

  package init(representation: Representation, moment: Moment) {
    self.representation = representation
    self.moment = moment
  }
}

/// Keeps views until something in them has changed, and makes each once, however many ask for it.
package final class ViewCache: Sendable {
  fileprivate struct Entry {
    var view: View
    /// The last moment for which it is known to be right.
    var moment: Moment
    var lastUse: Int
  }

  /// A view in the making. Its snapshot will not be older than the moment.
  fileprivate struct Flight {
    let number: Int
    let moment: Moment
    let task: Task<View, any Error>
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

  /// - Parameter budget: Bytes that views may take, about.
  package init(budget: Int) {
    self.budget = budget
  }

  /// The view of a key if it is in memory and right for a state.
  package func known(_ key: ViewKey, in state: VersionState) -> View? { shelf.withLock { $0.use(key, in: state) } }

  /// The view of a key, right for a state: from memory, from somebody else's making, or made now.
  ///
  /// The making goes on if the caller is cancelled, and its error is not kept.
  package func view(
    _ key: ViewKey, in state: VersionState, make: @escaping @Sendable () async throws -> View
  ) async throws -> View {
    let found = shelf.withLock { shelf -> Result<View, Missing> in
      if let view = shelf.use(key, in: state) { return .success(view) }
      if let flight = shelf.flights[key], state.isCurrent(key.subject, since: flight.moment) {
        return .failure(Missing(task: flight.task))
      }
      shelf.flightsBegun += 1
      let number = shelf.flightsBegun
      let task = Task { try await self.fly(key, number, make) }
      shelf.flights[key] = Flight(number: number, moment: state.moment, task: task)
      return .failure(Missing(task: task))
    }
    switch found {
    case .success(let view): return view
    case .failure(let missing): return try await missing.task.value
    }
  }

  private struct Missing: Error {
    let task: Task<View, any Error>
  }

  private func fly(_ key: ViewKey, _ number: Int, _ make: () async throws -> View) async throws -> View {
    let result: Result<View, any Error>
    do { result = .success(try await make()) } catch { result = .failure(error) }
    shelf.withLock { shelf in
      if shelf.flights[key]?.number == number { shelf.flights[key] = nil }
      if case .success(let view) = result { shelf.keep(view, for: key, within: budget) }
    }
    return try result.get()
  }
}

extension ViewCache.Shelf {
  /// The view of a key if nothing has happened to it.
  mutating func use(_ key: ViewKey, in state: VersionState) -> View? {
    guard let entry = entries[key], state.isCurrent(key.subject, since: entry.moment) else { return nil }
    uses += 1
    entries[key]?.lastUse = uses
    // What has been looked up need not be looked up so far back again.
    if entry.moment.version < state.moment.version { entries[key]?.moment = state.moment }
    return entry.view
  }

  mutating func keep(_ view: View, for key: ViewKey, within budget: Int) {
    if let old = entries[key] {
      // An older snapshot may come later.
      guard old.moment.epoch != view.moment.epoch || old.view.moment.version <= view.moment.version else { return }
      bytes -= old.view.cost
    }
    uses += 1
    entries[key] = ViewCache.Entry(view: view, moment: view.moment, lastUse: uses)
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
