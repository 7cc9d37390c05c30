import Foundation
import Logging
import News
import PostgresClient
import Synchronization

extension NewsStore {
  /// The poll intervals with and without notifications from the database.
  static let slowPoll: Duration = .seconds(1)
  private static let fastPoll: Duration = .milliseconds(50)

  /// Keeps the state current and the search index merged, and records the uses of keys, until the task is cancelled. NOTIFY
  /// is only a hint, so the database is also polled.
  public func follow() async {
    stateCache.isFollowed = true
    await withTaskGroup { group in
      group.addTask {
        for await event in self.listener.events(channel: "tidings") {
          if case .notification(payload: "keys", _) = event {
            self.keyLookups.forget()
            continue
          }
          self.stateCache.isListening = event != .disconnected
          if event == .listening || event == .disconnected { self.keyLookups.remembers = event == .listening }
          guard event != .disconnected, !self.knows(event) else { continue }
          _ = try? await self.stateCache.refresh()
        }
        self.keyLookups.remembers = false
      }
      group.addTask { await self.keepCadence() }
      group.addTask { await self.keepSearchIndexMerged() }
      group.addTask { await self.keepKeyUses() }
      group.addTask { await self.keepWriteHealth() }
      group.addTask { await self.keepStandbyLag() }
      group.addTask {
        while !Task.isCancelled {
          if !self.stateCache.isListening || self.stateCache.latest.map({ $0.age >= Self.slowPoll }) ?? true {
            _ = try? await self.stateCache.refresh()
          }
          try? await Task.sleep(for: Self.fastPoll)
        }
      }
    }
    stateCache.isFollowed = false
  }

  /// Whether a notification, `EPOCH VERSION`, refers to a version that the state already has, or receives from a commit
  /// of this process whose answer is about to arrive.
  private func knows(_ event: PostgresListener.Event) -> Bool {
    guard case .notification(let payload, let sender) = event, let state = stateCache.latest?.state else {
      return false
    }
    if writeContext.committing.contains(sender) { return true }
    let words = payload.split(separator: " ")
    guard words.count == 2, words[0] == state.epoch, let version = Int(words[1]) else { return false }
    return version <= state.version
  }

  /// The states that follow, while `follow()` is running. A slow consumer receives only the latest of several.
  public func states() -> AsyncStream<FeedSnapshot> { stateCache.states() }

  /// Calls a function for the present version of the feed and of topics, and for each later one, until the task is
  /// cancelled. Several changes during a call are one.
  package func forEachVersion(_ body: () async -> Void) async {
    let states = states()
    var known = cachedSnapshot?.feedVersion
    if known != nil { await body() }
    for await state in states where state.feedVersion != known {
      known = state.feedVersion
      await body()
    }
  }

  /// Waits until this process responds from a state that includes a version that it has just committed.
  ///
  /// - Throws: `StoreError.outcomeUnknown` if the state cannot be refreshed in time. After an acknowledged write a client
  ///   must not receive a response from before it.
  func waitForState(_ version: Int) async throws {
    try await acknowledge { try await self.stateCache.reach(epoch: self.epochGuard.epoch, version: version) }
  }

  /// Waits in the same way for a change of topics, which has no version.
  ///
  /// - Throws: `StoreError.outcomeUnknown`.
  func waitForTopics() async throws {
    try await acknowledge { try await self.stateCache.refresh() }
  }

  /// Repeats a refresh of the state until it succeeds, because a database that has just committed may be about to
  /// restart.
  private func acknowledge(_ refresh: @Sendable () async throws -> Void) async throws {
    guard stateCache.isFollowed else { return }
    let end = ContinuousClock.now + writeContext.resolutionTime
    while true {
      do {
        return try await refresh()
      } catch {
        guard !Task.isCancelled, .now < end else { throw StoreError.outcomeUnknown }
        try? await Task.sleep(for: Self.acknowledgementStep)
      }
    }
  }

  private static let acknowledgementStep: Duration = .milliseconds(100)
}
