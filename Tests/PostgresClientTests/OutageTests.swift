import PostgresClient
import Synchronization
import TestSupport
import Testing

@Suite struct OutageTests {
  private static let refused = PostgresError(.connectionFailed, "refused")

  @Test("an outage is logged when it begins, once a minute while it lasts, and when it ends")
  func lines() {
    let time = Mutex(ContinuousClock.now)
    let start = time.withLock { $0 }
    let recorded = RecordingLog()
    let log = OutageLog(now: { time.withLock { $0 } })
    // Three attempts per second for two and a half minutes.
    for attempt in 0..<450 {
      time.withLock { $0 = start + .milliseconds(attempt * 1000 / 3) }
      log.recordFailure(Self.refused, logger: recorded.logger)
    }
    log.recordSuccess(logger: recorded.logger)
    log.recordSuccess(logger: recorded.logger)
    let lines = recorded.text.split(separator: "\n")
    #expect(lines.count == 4, "\(recorded.text)")
    #expect(lines.map { $0.hasPrefix("warning") } == [true, true, true, false])
    #expect(lines.dropFirst().prefix(2).allSatisfy { $0.contains("still no connection") && $0.contains("attempts") })
    #expect(lines.last?.hasPrefix("notice connected to PostgreSQL again") == true)
  }

  @Test("an unstable connection is logged at most once a minute")
  func flapping() {
    let time = Mutex(ContinuousClock.now)
    let start = time.withLock { $0 }
    let recorded = RecordingLog()
    let log = OutageLog(now: { time.withLock { $0 } })
    for second in 0..<180 {
      time.withLock { $0 = start + .seconds(second) }
      log.recordFailure(Self.refused, logger: recorded.logger)
      log.recordSuccess(logger: recorded.logger)
    }
    #expect(recorded.text.split(separator: "\n").count == 6, "\(recorded.text)")
  }

  @Test("an attempt that is cancelled because the process ends is not logged as an outage")
  func cancelled() {
    let recorded = RecordingLog()
    let log = OutageLog()
    log.recordFailure(PostgresError(.cancelled, "x"), logger: recorded.logger)
    log.recordFailure(PostgresError(.shutDown, "x"), logger: recorded.logger)
    log.recordFailure(CancellationError(), logger: recorded.logger)
    log.recordSuccess(logger: recorded.logger)
    #expect(recorded.text == "")
  }
}
