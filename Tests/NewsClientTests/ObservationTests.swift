import BackgroundFetch
import FaultServer
import Foundation
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("Observers of a store that others change") struct ObservationTests {
  /// Runs the body while a client observes, with the changes that its observers have heard of.
  private func observing(
    _ client: NewsFetcher, _ body: (Journal) async throws -> Void
  ) async throws {
    let journal = Journal()
    let observation = client.changes.add { journal.add($0) }
    let task = Task { await client.observeOtherProcesses() }
    func end(_ task: Task<Void, Never>) async {
      task.cancel()
      await task.value
    }
    try await withResource(task, release: end) { _ in try await body(journal) }
    withExtendedLifetime(observation) {}
  }

  /// The changes that observers have heard of.
  private final class Journal: Sendable {
    private let changes = Mutex<[ItemChanges]>([])

    var all: [ItemChanges] { changes.withLock(\.self) }

    func add(_ change: ItemChanges) { changes.withLock { $0.append(change) } }
  }

  @Test("hear of each fetch once, whoever has fetched, with the items as they are stored")
  func each() async throws {
    try await Installation.with { installation in
      let feed = installation.feed
      let (client, other) = (try installation.client(), try installation.client())
      try await observing(client) { journal in
        feed.publish("one")
        await other.performFetch()
        try await eventually("they have heard") { journal.all.count == 1 }
        #expect(journal.all[0].inserted == feed.items)
        feed.publish("two")
        await client.performFetch()
        #expect(journal.all.count == 2)
        await other.performFetch()
        let retracted = feed.items[0].id
        feed.retract(retracted)
        feed.publish("three")
        await other.performFetch()
        try await eventually("they have heard") { journal.all.count == 3 }
        #expect(journal.all[2].removed == [retracted])
        #expect(journal.all[2].inserted.map(\.text) == ["three"])
      }
    }
  }

  @Test("hear of a fetch since the client was opened, and of none before")
  func before() async throws {
    try await Installation.with { installation in
      let other = try installation.client()
      installation.feed.publish("before")
      await other.performFetch()
      let client = try installation.client()
      installation.feed.publish("after")
      await other.performFetch()
      try await observing(client) { journal in
        try await eventually("they have heard") { !journal.all.isEmpty }
        #expect(journal.all.map { $0.inserted.map(\.text) } == [["after"]])
      }
    }
  }

  @Test(
    "hear of everything at once after a pause in which more fetches took place than are recorded, and else of each",
    arguments: [200, 201])
  func pause(fetches: Int) async throws {
    try await Installation.with(extent: .full) { installation in
      let (client, other) = (try installation.client(), try installation.client())
      for number in 0..<fetches {
        installation.feed.publish("\(number)")
        await other.performFetch()
      }
      try await observing(client) { journal in
        try await eventually("they have heard") { journal.all.count >= (fetches == 200 ? 200 : 1) }
        if fetches == 200 {
          let inserted = Array(journal.all.flatMap(\.inserted).reversed())
          #expect(inserted == (try client.allNewsItems))
        } else {
          #expect(journal.all.count == 1)
          #expect(journal.all[0].updated == (try client.allNewsItems))
        }
        #expect(journal.all.allSatisfy { $0.isComplete })
      }
    }
  }

  @Test("hear that a fetch of another process has changed more items than it lists")
  func veryMany() async throws {
    try await Installation.with(extent: .full) { installation in
      let (client, other) = (try installation.client(), try installation.client())
      for number in 0...ItemChanges.maximumItems { installation.feed.publish("\(number)") }
      try await observing(client) { journal in
        await other.performFetch()
        try await eventually("they have heard") { !journal.all.isEmpty }
        #expect(journal.all[0].inserted.count == ItemChanges.maximumItems)
        #expect(!journal.all[0].isComplete)
      }
    }
  }

  @Test("hear of fetches into the store that has replaced a deleted one")
  func replaced() async throws {
    try await Installation.with { installation in
      let (client, other) = (try installation.client(), try installation.client())
      try await observing(client) { journal in
        for number in 0..<3 {
          installation.feed.publish("\(number)")
          await other.performFetch()
        }
        try await eventually("they have heard") { journal.all.count == 3 }
        for suffix in ["", "-wal", "-shm"] {
          try? FileManager.default.removeItem(atPath: installation.folder.path + "/news.sqlite" + suffix)
        }
        await other.performFetch()
        try await eventually("they have heard") { journal.all.count == 4 }
        #expect(journal.all[3].inserted.count == 3)
      }
    }
  }
}
