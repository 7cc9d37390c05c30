import Foundation
import TestKit

/// The acknowledged outcomes of writes, and the resulting possible contents of the table.
///
/// Only one writer at a time holds an item. A write with an unknown outcome leaves two possibilities; a later
/// acknowledged write leaves one, because an editor's writes are locked by revisions and cannot take effect late.
actor Ledger {
  /// The content of an item in the table.
  struct Content: Hashable, Sendable {
    var state: String
    var text: String
    var title: String?
    var topics: [String]
  }

  /// A violation of a promise.
  struct Violation: Error, CustomStringConvertible {
    let description: String
  }

  /// The outcome of a write.
  enum Outcome: Sendable {
    case done, refused, unknown
  }

  /// The possible contents of an item; nil means that the item does not exist.
  typealias Possible = Set<Content?>

  private var items: [UUID: Possible] = [:]
  private var busy: Set<UUID> = []
  /// The contents of items that may exist under an id that only the server knows.
  private var nameless: Set<Content> = []
  /// The ids of new items that were sent in one atomic batch each. All of them exist, or none.
  private(set) var atomicCreations: [[UUID]] = []

  /// Leases an item exclusively to one writer, until `end`.
  ///
  /// - Returns: The id; nil if none is free.
  func lease(using random: inout SplitMix64) -> UUID? {
    for _ in 0..<8 {
      if let id = items.keys.randomElement(using: &random), busy.insert(id).inserted { return id }
    }
    return nil
  }

  /// Leases a known item; returns false if another writer holds it.
  func lease(_ id: UUID) -> Bool { busy.insert(id).inserted }

  /// Creates the id of a new item and leases it in the same way.
  func create(using random: inout SplitMix64) -> UUID {
    let id = UUID(uuid: withUnsafeBytes(of: (random.next(), random.next())) { $0.load(as: uuid_t.self) })
    items[id] = [nil]
    busy.insert(id)
    return id
  }

  /// Records that an item whose id the server chooses may be created once from now on. No two contents are equal.
  func beginCreation(_ content: Content) { nameless.insert(content) }

  /// Records that such an item was created, and leases it.
  func endCreation(_ content: Content, as id: UUID) throws {
    guard nameless.remove(content) != nil, items[id] == nil else {
      throw Violation(description: "\(id) was created as \(content), which is not new")
    }
    items[id] = [content]
    busy.insert(id)
  }

  /// Records that a write may take effect from now on.
  ///
  /// - Parameter seen: The content that the write is locked to; nil for a write without a lock.
  func begin(_ id: UUID, seen: Content? = nil, _ change: (Content?) -> Content?) -> Attempt {
    let before = items[id] ?? [nil]
    var after = seen.map { [change($0)] } ?? Set(before.map(change))
    // The schedule publishes an item without a further write.
    for case let content? in after where content.state == "scheduled" {
      after.insert(content.with(state: "published"))
    }
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

  /// Records that an atomic batch may create items.
  func beginAtomicCreation(of ids: [UUID]) { atomicCreations.append(ids) }

  /// Checks content that was read while no write was in progress, except writes of unknown outcome.
  func check(_ id: UUID, _ content: Content?) throws {
    // A second item with the same content would be found missing in the ledger.
    if items[id] == nil, let content, nameless.remove(content) != nil { items[id] = [content] }
    guard let possible = items[id] else {
      throw Violation(description: "no writer wrote \(id): \(content.map { "\($0)" } ?? "nothing")")
    }
    guard possible.contains(content) else {
      throw Violation(
        description: """
          the acknowledged write of \(id) is lost: there is \(content.map { "\($0)" } ?? "nothing") instead of \
          \(possible.map { $0.map { "\($0)" } ?? "nothing" }.joined(separator: " or "))
          """)
    }
  }

  /// The entire ledger, to be restored with the database; no write may be in progress.
  var contents: [UUID: Possible] { items }

  func restore(_ contents: [UUID: Possible]) { items = contents }

  var ids: Set<UUID> { Set(items.keys) }
}
