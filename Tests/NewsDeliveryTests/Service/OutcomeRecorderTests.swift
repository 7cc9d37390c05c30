import Foundation
import Logging
import NewsDelivery
import NewsStore
import Synchronization
import TestKit
import TestSupport
import Testing

/// The recording of outcomes while the database does not answer.
@Suite struct OutcomeRecorderTests {
  private struct Failure: Error {}

  private static func entry(leased: ContinuousClock.Instant = .now) -> OutcomeRecorder.Entry {
    .init(outcome: PushOutcome(message: .sample(to: .fcm(token: "t")), result: .sent), leased: leased)
  }

  /// Runs the body with a recorder.
  private static func with(
    _ write: @escaping @Sendable ([PushOutcome]) async throws -> Void,
    _ body: (OutcomeRecorder) async throws -> Void
  ) async throws {
    let recorder = OutcomeRecorder(lease: .seconds(180), logger: NewsDatabase.logger, write: write)
    let running = Task { await recorder.run() }
    try await withResource(
      recorder,
      release: { recorder in
        recorder.close(within: .seconds(60))
        await running.value
      }, body)
  }

  @Test("Outcomes are written in batches, and again after errors, each once")
  func retries() async throws {
    let calls = Count()
    let written = Mutex([Int]())
    let count = OutcomeRecorder.batchSize * 2 + 50
    try await Self.with({ outcomes in
      if calls.next() <= 2 { throw Failure() }
      written.withLock { $0.append(outcomes.count) }
    }) { recorder in
      for _ in 0..<count { await recorder.add(Self.entry()) }
    }
    let batches = written.withLock { $0 }
    #expect(batches.reduce(0, +) == count && batches.allSatisfy { $0 <= OutcomeRecorder.batchSize })
  }

  @Test("The wait after an error doubles, up to two seconds")
  func waits() async throws {
    let calls = Count()
    let waits = Mutex([Duration]())
    let recorder = OutcomeRecorder(
      lease: .seconds(180), logger: NewsDatabase.logger,
      write: { _ in
        guard calls.next() <= 7 else { return }
        throw Failure()
      },
      sleep: { wait in waits.withLock { $0.append(wait) } })
    await recorder.add(Self.entry())
    recorder.close(within: .seconds(60))
    await recorder.run()
    let expected: [Duration] = [
      .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800), .milliseconds(1600), .seconds(2),
      .seconds(2),
    ]
    let found = waits.withLock { $0 }
    #expect(found == expected)
  }

  @Test("Outcomes of claims that have ended are dropped, because the messages are sent again")
  func endedClaims() async throws {
    let isFailing = Flag()
    isFailing.set()
    let calls = Count()
    let written = Mutex(0)
    try await Self.with({ outcomes in
      _ = calls.next()
      if isFailing.isSet { throw Failure() }
      written.withLock { $0 += outcomes.count }
    }) { recorder in
      for _ in 0..<10 { await recorder.add(Self.entry(leased: .now - .seconds(200))) }
      await recorder.add(Self.entry())
      // The outcomes of ended claims are dropped after the first error.
      try await eventually("the outcomes are written again") { calls.value >= 2 }
      isFailing.set(false)
    }
    #expect(written.withLock { $0 } == 1)
  }

  @Test("A process that ends gives up the outcomes that cannot be written in time, and the log says how many")
  func end() async throws {
    let log = RecordingLog()
    let recorder = OutcomeRecorder(lease: .seconds(60), logger: log.logger) { _ in throw Failure() }
    for _ in 0..<7 { await recorder.add(Self.entry()) }
    let start = ContinuousClock.now
    recorder.close(within: .zero)
    // The first time counts.
    recorder.close(within: .seconds(3600))
    await recorder.run()
    #expect(ContinuousClock.now - start < .seconds(30))
    let lines = log.text.split(separator: "\n").filter { $0.hasPrefix("warning outcomes of messages are lost") }
    #expect(lines.count == 1 && lines.first?.contains("7") == true)
  }

  @Test("What workers bring after the time was bounded is written as long as they may bring more")
  func late() async throws {
    let written = Count()
    try await Self.with({ _ in _ = written.next() }) { recorder in
      recorder.bound(to: .seconds(60))
      // Without entries, the recorder has nothing else to do by now.
      try await Task.sleep(for: .milliseconds(200))
      #expect(written.value == 0)
      await recorder.add(Self.entry())
      try await eventually("it is written") { written.value == 1 }
    }
  }

  @Test("Those who wait because there are too many outcomes go on when the process ends")
  func endOfWaits() async throws {
    let (barrier, added) = (Barrier(), Count())
    try await Self.with({ _ in await barrier.wait() }) { recorder in
      defer { barrier.open() }
      Task {
        for _ in 0..<OutcomeRecorder.capacity + 3 {
          await recorder.add(Self.entry())
          _ = added.next()
        }
      }
      try await eventually("the recorder is full") { added.value == OutcomeRecorder.capacity }
      recorder.bound(to: .seconds(60))
      try await eventually("the others do not wait") { added.value == OutcomeRecorder.capacity + 3 }
    }
  }

  @Test("Waiting outcomes are bounded: those who bring more wait")
  func bound() async throws {
    let barrier = Barrier()
    let added = Count()
    try await Self.with({ _ in await barrier.wait() }) { recorder in
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<10 {
          group.addTask {
            for _ in 0..<300 {
              await recorder.add(Self.entry())
              _ = added.next()
            }
          }
        }
        try? await eventually("the recorder is full") { added.value >= OutcomeRecorder.capacity }
        #expect(added.value <= OutcomeRecorder.capacity)
        barrier.open()
      }
    }
    #expect(added.value == 3000)
  }
}
