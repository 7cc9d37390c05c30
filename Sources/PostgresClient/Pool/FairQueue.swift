import DequeModule

/// The party on whose behalf a task waits, such as a key or a device: the name under which it takes its turn in queues.
///
/// `QueueParty.$current.withValue("key 7") { … }` names the party of all queries inside of it.
package enum QueueParty {
  /// The name; nil for tasks that belong to no party, which share a turn.
  @TaskLocal package static var current: String?
}

/// A queue that serves parties in turn, and the elements of a party in the order of their arrival. A party with very many
/// elements delays each other party by one element at a time.
package struct FairQueue<ID: Hashable & Sendable, Element: Sendable>: Sendable {
  private struct Entry {
    let party: String?
    let element: Element
  }

  /// The elements of a party, and the ids of some that have left.
  private struct Line {
    var ids: Deque<ID> = []
    var count = 0
  }

  private var entries: [ID: Entry] = [:]
  private var lines: [String?: Line] = [:]
  /// The parties with lines, the next one first. Each of them has an element.
  private var turns: Deque<String?> = []

  package init() {}

  /// The number of elements.
  package var count: Int { entries.count }

  package var isEmpty: Bool { entries.isEmpty }

  /// The number of elements of a party.
  package func count(of party: String?) -> Int { lines[party]?.count ?? 0 }

  /// Adds an element at the end of its party's line.
  ///
  /// - Parameter id: A number that no other element has had.
  package mutating func append(_ element: Element, id: ID, of party: String?) {
    entries[id] = Entry(party: party, element: element)
    if lines[party] == nil { turns.append(party) }
    lines[party, default: Line()].ids.append(id)
    lines[party]?.count += 1
  }

  /// Removes the next element of a party whose turn it may be.
  package mutating func popFirst(
    where mayServe: (String?) -> Bool = { _ in true }
  ) -> (element: Element, party: String?)? {
    guard let index = turns.firstIndex(where: mayServe) else { return nil }
    let party = turns.remove(at: index)
    guard var line = lines[party] else { return nil }
    var found: Element?
    while found == nil, let id = line.ids.popFirst() { found = entries.removeValue(forKey: id)?.element }
    line.count -= 1
    keep(line, of: party)
    if line.count > 0 { turns.append(party) }
    return found.map { ($0, party) }
  }

  /// Removes an element that leaves; nil if it is not in the queue.
  package mutating func remove(_ id: ID) -> Element? {
    guard let entry = entries.removeValue(forKey: id), var line = lines[entry.party] else { return nil }
    line.count -= 1
    if line.count == 0 { turns.removeAll { $0 == entry.party } }
    if line.ids.count > 2 * line.count + 64 { line.ids.removeAll { entries[$0] == nil } }
    keep(line, of: entry.party)
    return entry.element
  }

  /// Whether an element is in the queue.
  package func contains(_ id: ID) -> Bool { entries[id] != nil }

  /// Removes all elements, in no particular order.
  package mutating func removeAll() -> [Element] {
    defer { self = FairQueue() }
    return entries.values.map(\.element)
  }

  private mutating func keep(_ line: Line, of party: String?) { lines[party] = line.count == 0 ? nil : line }
}
