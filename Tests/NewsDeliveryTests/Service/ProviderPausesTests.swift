import Foundation
import Logging
import News
import NewsDelivery
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The pauses of a push service that processes share.
@Suite struct ProviderPausesTests {
  private static let message = PushMessage.sample(to: .fcm(token: "a"))

  private static func pauses(_ deliveries: Deliveries, logger: Logger = NewsDatabase.logger) -> ProviderPauses {
    ProviderPauses(
      sender: ScriptedSender(.fcm), store: deliveries.store, logger: logger, clock: { deliveries.now })
  }

  private static func demand(_ seconds: Double) -> PushAnswer {
    PushAnswer(.retry(after: seconds, reason: "busy"), pause: .init(seconds: seconds, reason: "busy"))
  }

  @Test("A process pauses for the rest of a pause that another one has begun")
  func rest() async throws {
    try await Deliveries.with { deliveries in
      for (provider, seconds) in [(PushProvider.apns, 600), (.fcm, 60), (.webpush, 600)] as [(PushProvider, Double)] {
        try await deliveries.store.pauseProvider(provider, for: seconds, reason: "down", at: deliveries.now)
      }
      deliveries.advance(20)
      let pauses = Self.pauses(deliveries)
      #expect(pauses.rest == nil)
      try await pauses.refresh()
      let rest = try #require(pauses.rest)
      #expect(rest > .seconds(20) && rest < .seconds(41))
    }
  }

  @Test("A reading that began before a pause of this process does not end it")
  func earlierReading() async throws {
    try await Deliveries.with { deliveries in
      let (hasRead, isPaused) = (Flag(), DispatchSemaphore(value: 0))
      let now = deliveries.now
      let pauses = ProviderPauses(
        sender: ScriptedSender(.fcm), store: deliveries.store, logger: NewsDatabase.logger,
        clock: {
          // The first call follows the reading.
          if !hasRead.isSet {
            hasRead.set()
            isPaused.wait()
          }
          return now
        })
      let reading = Task { try await pauses.refresh() }
      try await eventually("it has read") { hasRead.isSet }
      await pauses.note(Self.demand(300), to: Self.message)
      isPaused.signal()
      try await reading.value
      #expect(pauses.rest ?? .zero > .seconds(200))
    }
  }

  @Test("A reading while a pause of this process is being stored does not end it")
  func readingMeanwhile() async throws {
    try await Deliveries.with { deliveries in
      let pauses = Self.pauses(deliveries)
      let writing = try await deliveries.sql.transaction { transaction in
        // Readers pass this lock, and writers wait for it.
        _ = try await transaction.query("LOCK TABLE push_providers IN SHARE MODE")
        let writing = Task { await pauses.note(Self.demand(300), to: Self.message) }
        try await eventually("the pause is being stored") {
          try await deliveries.sql.query(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
          ).count == 1
        }
        try await pauses.refresh()
        #expect(pauses.rest ?? .zero > .seconds(200))
        return writing
      }
      await writing.value
      #expect(try await deliveries.store.providerStates().map(\.pauses) == [1])
    }
  }

  @Test("A pause that could not be stored holds, and is stored once the database answers")
  func unstored() async throws {
    try await Deliveries.with { deliveries in
      let pauses = Self.pauses(deliveries)
      _ = try await deliveries.sql.query("ALTER TABLE push_providers RENAME TO hidden")
      await pauses.note(Self.demand(300), to: Self.message)
      await #expect(throws: (any Error).self) { try await pauses.refresh() }
      _ = try await deliveries.sql.query("ALTER TABLE hidden RENAME TO push_providers")
      try await pauses.refresh()
      #expect(pauses.rest ?? .zero > .seconds(200) && pauses.isProbing)
      let state = try #require(try await deliveries.store.providerStates().first { $0.provider == .fcm })
      #expect(state.pauses == 1 && 200...301 ~= state.pausedUntil?.timeIntervalSince(deliveries.now) ?? 0)
      // It is stored once.
      try await Task.sleep(for: .milliseconds(1100))
      try await pauses.refresh()
      #expect(try await deliveries.store.providerStates().map(\.pauses) == [1])
      #expect(pauses.rest ?? .zero > .seconds(200))
    }
  }

  @Test("A pause lasts as long as an answer demands, and twice as long as the one before it")
  func lengths() async throws {
    try await Deliveries.with { deliveries in
      let log = RecordingLog()
      let (first, start) = (Self.pauses(deliveries, logger: log.logger), deliveries.now)
      for _ in 0..<10 { await first.note(PushAnswer(.sent), to: Self.message) }
      // Answers that arrive together begin one pause.
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<50 { group.addTask { await first.note(Self.demand(300), to: Self.message) } }
      }
      #expect(try await deliveries.store.providerStates().map(\.pauses) == [1])
      let lines = log.text.split(separator: "\n").filter { $0.hasPrefix("warning a push service is paused") }
      #expect(lines.count == 1 && lines.allSatisfy { $0.contains("busy") && $0.contains("300") && $0.contains("fcm") })
      let end = try #require(try await deliveries.store.providerStates().first?.pausedUntil)
      #expect(299...330 ~= end.timeIntervalSince(start))
      #expect(first.rest ?? .zero > .seconds(270))
      // Messages that were accepted before it prove nothing.
      #expect(await !first.endProbe())

      deliveries.advance(310)
      let next = Self.pauses(deliveries, logger: log.logger)
      try await next.refresh()
      await next.note(Self.demand(70), to: Self.message)
      let state = try #require(try await deliveries.store.providerStates().first)
      #expect(state.pauses == 2 && 429...460 ~= state.pausedUntil?.timeIntervalSince(start) ?? 0)
      #expect(log.text.contains("120"))
    }
  }

  @Test(
    "After a pause a service proves itself by accepted messages, unless more than 5 % of their number have failed",
    arguments: [
      (PushAnswer(.tokenError(reason: "x")), false),
      (PushAnswer(.retry(after: 5, reason: "x"), isFailure: true), false),
      (PushAnswer(.retry(after: 5, reason: "x")), true), (PushAnswer(.invalid(reason: "x")), true),
      (PushAnswer(.gone(since: nil)), true),
    ])
  func probe(answer: PushAnswer, isFine: Bool) async throws {
    try await Deliveries.with { deliveries in
      try await deliveries.store.pauseProvider(.fcm, for: 60, reason: "down", at: deliveries.now)
      deliveries.advance(61)
      let log = RecordingLog()
      let pauses = Self.pauses(deliveries, logger: log.logger)
      try await pauses.refresh()
      await pauses.note(answer, to: Self.message)
      #expect(await !pauses.endProbe())
      for _ in 0..<19 { await pauses.note(PushAnswer(.sent), to: Self.message) }
      #expect(await pauses.endProbe() == isFine)
      if !isFine {
        await pauses.note(PushAnswer(.sent), to: Self.message)
        #expect(await pauses.endProbe())
      }
      #expect(!pauses.isProbing)
      #expect(log.text.contains("notice a push service is no longer paused"))
    }
  }

  @Test("Failures of hosts that are independent of each other pause no service")
  func unsharedFailures() async throws {
    try await Deliveries.with { deliveries in
      let pauses = ProviderPauses(
        sender: ScriptedSender(.fcm, sharesFailures: false), store: deliveries.store, logger: NewsDatabase.logger,
        clock: { deliveries.now })
      let failure = PushAnswer(.retry(after: 5, reason: "x"), isFailure: true)
      for _ in 0..<40 { await pauses.note(failure, to: Self.message) }
      #expect(pauses.rest == nil)
      let states = try await deliveries.store.providerStates()
      #expect(states.isEmpty)
      for _ in 0..<3 { await pauses.note(PushAnswer(.tokenError(reason: "x")), to: Self.message) }
      #expect(pauses.rest != nil)
    }
  }

  @Test("Addresses of strangers that are gone do not outweigh the refusals of known devices")
  func goneStrangers() async throws {
    try await Deliveries.with { deliveries in
      let (pauses, stranger) = (Self.pauses(deliveries), PushMessage.sample(to: .fcm(token: "a"), code: "c0de"))
      for _ in 0..<400 { await pauses.note(PushAnswer(.gone(since: nil)), to: stranger) }
      for _ in 0..<20 { await pauses.note(PushAnswer(.tokenError(reason: "x")), to: Self.message) }
      #expect(pauses.rest != nil)
    }
  }

  @Test("Answers from before a pause do not begin the next one")
  func failuresBefore() async throws {
    try await Deliveries.with { deliveries in
      let pauses = Self.pauses(deliveries)
      let failure = PushAnswer(.retry(after: 5, reason: "x"), isFailure: true)
      for number in 0..<20 {
        // All answers of a minute count.
        if number == 10 { try await Task.sleep(for: .milliseconds(100)) }
        await pauses.note(failure, to: Self.message)
      }
      #expect(try await deliveries.store.providerStates().map(\.pauses) == [1])
      deliveries.advance(61)
      try await pauses.refresh()
      #expect(pauses.rest == nil && pauses.isProbing)
      await pauses.note(failure, to: Self.message)
      #expect(try await deliveries.store.providerStates().map(\.pauses) == [1])
      #expect(pauses.rest == nil)
    }
  }

  @Test("Errors of a probe that has succeeded do not begin the next pause")
  func errorsOfProbe() async throws {
    try await Deliveries.with { deliveries in
      try await deliveries.store.pauseProvider(.fcm, for: 60, reason: "down", at: deliveries.now)
      deliveries.advance(61)
      let pauses = Self.pauses(deliveries)
      try await pauses.refresh()
      let refusal = PushAnswer(.tokenError(reason: "x"))
      await pauses.note(refusal, to: Self.message)
      for _ in 0..<20 { await pauses.note(PushAnswer(.sent), to: Self.message) }
      #expect(await pauses.endProbe())
      await pauses.note(refusal, to: Self.message)
      #expect(pauses.rest == nil)
      #expect(try await deliveries.store.providerStates().map(\.pauses) == [0])
    }
  }

  @Test("Answers from before a pause of another process do not end its probe")
  func otherProcess() async throws {
    try await Deliveries.with { deliveries in
      let pauses = Self.pauses(deliveries)
      for _ in 0..<100 { await pauses.note(PushAnswer(.sent), to: Self.message) }
      try await deliveries.store.pauseProvider(.fcm, for: 60, reason: "down", at: deliveries.now)
      deliveries.advance(61)
      try await pauses.refresh()
      #expect(pauses.isProbing && pauses.rest == nil)
      #expect(await !pauses.endProbe())
      #expect(try await deliveries.store.providerStates().map(\.pauses) == [1])
      await pauses.note(PushAnswer(.sent), to: Self.message)
      #expect(await pauses.endProbe())
      #expect(try await deliveries.store.providerStates().map(\.pauses) == [0])
    }
  }
}
