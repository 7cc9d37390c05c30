import Foundation
import TestRandom

/// What writers have been told of their writes, and hence what the table may hold.
///
/// One writer at a time has an item. A write whose outcome nobody knows leaves two possibilities, of which a later one
/// that is acknowledged leaves one: an editor's writes are locked by revisions, so that none can arrive late.
actor Ledger {
  /// An item in the table.
  struct Content: Hashable, Sendable {
    var state: String
    var text: String
    var title: String?
    var topics: [String]
  }

  /// A promise was broken.
  struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  /// How a write ended.
  enum Outcome: Sendable {
    case done, refused, unknown
  }

  /// The possibilities; nil is an item that is not there.
  typealias Possible = Set<Content?>

  private var items: [UUID: Possible] = [:]
  private var busy: Set<UUID> = []

  /// An item for one writer alone, until `end`.
  ///
  /// - Returns: nil if there is none that is free.
  func lease(using random: inout SplitMix64) -> UUID? {
    for _ in 0..<8 {
      if let id = items.keys.randomElement(using: &random), busy.insert(id).inserted { return id }
    }
    return nil
  }

  /// A new item, in the same way.
  func create(using random: inout SplitMix64) -> UUID {
    let id = UUID(uuid: withUnsafeBytes(of: (random.next(), random.next())) { $0.load(as: uuid_t.self) })
    items[id] = [nil]
    busy.insert(id)
    return id
  }

  /// Notes that a write may happen from now on.
  ///
  /// - Parameter seen: What it changes, where it is locked to that.
  func begin(_ id: UUID, seen: Content? = nil, _ change: (Content?) -> Content?) -> Attempt {
    let before = items[id] ?? [nil]
    let after = seen.map { [change($0)] } ?? Set(before.map(change))
    items[id] = before.union(after)
    return Attempt(id: id, before: before, after: after)
  }

  struct Attempt: Sendable {
    let id: UUID
    let before: Possible
    let after: Possible
  }

  func end(_ attempt: Attempt, _ outcome: Outcome) {
    switch outcome {
    case .done: items[attempt.id] = attempt.after
    case .refused: items[attempt.id] = attempt.before
    case .unknown: break
    }
    busy.remove(attempt.id)
  }

  func release(_ id: UUID) { busy.remove(id) }

  /// An item was read while nobody wrote to it, or only writes of unknown outcome.
  func see(_ id: UUID, _ content: Content?) throws {
    guard let possible = items[id] else {
      throw Broken(description: "nobody wrote \(id): \(content.map { "\($0)" } ?? "nothing")")
    }
    guard possible.contains(content) else {
      throw Broken(
        description: """
          the acknowledged write of \(id) is lost: there is \(content.map { "\($0)" } ?? "nothing") instead of \
          \(possible.map { $0.map { "\($0)" } ?? "nothing" }.joined(separator: " or "))
          """)
    }
  }

  /// Everything that is known, for a restore to come back to. Nobody writes at the time.
  var memory: [UUID: Possible] { items }

  func restore(_ memory: [UUID: Possible]) { items = memory }

  var ids: Set<UUID> { Set(items.keys) }
}
