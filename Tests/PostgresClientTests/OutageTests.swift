import PostgresClient
import Synchronization
import Testing

@Suite struct OutageTests {
  private static let refused = PostgresError(.connectionFailed, "refused")

  @Test("An outage has a line when it begins, one a minute while it lasts, and one when it is over")
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

  @Test("A connection that comes and goes has no more than a line a minute for each")
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

  @Test("An attempt that was given up because the process ends is no outage")
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
