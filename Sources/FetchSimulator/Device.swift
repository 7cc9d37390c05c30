import Foundation

/// A simulated device: its stored items, and the openings of its app.
struct Device {
  private let simulation: Simulation
  private var now: Date
  /// The number of past openings.
  private var opened = 0
  /// The number of items on the device once the fetch at ``lastFetch`` has ended.
  private var stored = 0
  /// The number of items on the device before the last fetch.
  private var storedBefore = 0
  private var lastFetch = Date.distantPast
  private var lastOpening = Date.distantPast
  private var wakes: [Date] = []
  private var hits = 0
  private var misses = 0
  private var items = 0
  private var bytes = 0

  init(_ simulation: Simulation) {
    self.simulation = simulation
    now = simulation.days.start
  }

  /// Advances to the next event: an opening, or the wake if it is earlier.
  ///
  /// - Parameter wake: Returns the next wake as planned at a given time.
  /// - Returns: The date of the event; nil at the end.
  mutating func next(from wake: (Date) -> Date) -> Date? {
    while true {
      let opening = opened < simulation.openings.count ? simulation.openings[opened] : simulation.days.end
      let due = wake(now)
      guard min(due, opening) < simulation.days.end else { return nil }
      if opening <= due {
        now = opening
        return now
      }
      // The next wake may change when a wait ends.
      if due <= now { return now }
      now = due
    }
  }

  func isOpening(_ date: Date) -> Bool {
    opened < simulation.openings.count && simulation.openings[opened] == date
  }

  mutating func open(_ date: Date) -> (items: ArraySlice<Date>, bytes: Int) {
    let published = published(by: date)
    let found = date >= lastFetch + Simulation.duration ? stored : storedBefore
    if published > 0, simulation.items[published - 1] > lastOpening {
      if found == published { hits += 1 } else { misses += 1 }
    }
    opened += 1
    lastOpening = date
    return fetch(date, published)
  }

  mutating func wake(_ date: Date) -> (items: ArraySlice<Date>, bytes: Int) {
    let fetch = fetch(date, published(by: date))
    wakes.append(date)
    items += fetch.items.count
    bytes += fetch.bytes
    return fetch
  }

  private mutating func fetch(_ date: Date, _ published: Int) -> (items: ArraySlice<Date>, bytes: Int) {
    let new = simulation.items[stored..<published]
    storedBefore = stored
    stored = published
    lastFetch = date
    let cost = new.isEmpty ? Simulation.emptyBytes : Simulation.headBytes + new.count * Simulation.itemBytes
    return (new, cost)
  }

  private func published(by date: Date) -> Int {
    var low = stored
    var high = simulation.items.count
    while low < high {
      let middle = (low + high) / 2
      if simulation.items[middle] <= date { low = middle + 1 } else { high = middle }
    }
    return low
  }

  func outcome(of policy: Policy) -> Outcome {
    Outcome(
      persona: simulation.persona.name, newsroom: simulation.newsroom.name, policy: policy.name, seed: simulation.seed,
      days: simulation.days.count, wakes: wakes, openings: simulation.openings, hits: hits, misses: misses,
      items: items, bytes: bytes)
  }
}
