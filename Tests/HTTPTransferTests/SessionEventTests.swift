import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("The events of a session") struct SessionEventTests {
  /// A delegate that records the ends of transfers.
  private final class EventRecorder: TransferDelegate {
    private let written = Mutex<[String]>([])
    var lines: [String] { written.withLock(\.self) }
    func note(_ line: String) { written.withLock { $0.append(line) } }

    func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {
      note("\(task.number) \(transfer.state.rawValue) \(transfer.taskDescription ?? "")")
    }
  }

  /// Changes the journal as another process does.
  private func change(_ fixture: TransferFixture, _ sql: String) async throws {
    var configuration = GRDB.Configuration()
    // The session may be writing.
    configuration.busyMode = .timeout(30)
    let queue = try DatabaseQueue(
      path: fixture.folder.appending(path: "transfers/journal.sqlite").path, configuration: configuration)
    try await queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  /// Opens a session with the clock of the fixture, and waits until it sleeps.
  private func waitingSession(_ fixture: TransferFixture, _ recorder: EventRecorder) async throws -> TransferSession {
    let session = try TransferSession(
      identifier: "media", store: fixture.folder, delegate: recorder, clock: fixture.clock, startWorker: {})
    try await eventually("it waits") { fixture.clock.sleeping == [600] }
    return session
  }

  @Test("reports the end of a transfer that cannot be read for a while, as soon as it can")
  func unreadable() async throws {
    try await TransferFixture.with { fixture in
      let recorder = EventRecorder()
      let request = TransferRequest(download: fixture.url)
      let number = try fixture.journal.add(request, session: "media", description: "cover").number
      // While there is an event, no transfer can be read.
      try await change(
        fixture,
        """
        ALTER TABLE transfers RENAME TO stored;
        CREATE VIEW transfers AS SELECT number, session, state,
          CASE WHEN EXISTS (SELECT 1 FROM events) THEN json('damaged ' || number) ELSE json END AS json FROM stored;
        CREATE TRIGGER change INSTEAD OF UPDATE ON transfers BEGIN
          UPDATE stored SET state = NEW.state, json = NEW.json WHERE number = OLD.number;
        END;
        CREATE TRIGGER removal INSTEAD OF DELETE ON transfers BEGIN
          DELETE FROM stored WHERE number = OLD.number;
        END;
        """)
      let session = try await waitingSession(fixture, recorder)
      try fixture.journal.cancel(number)
      try await eventually("it tries again later") { fixture.clock.sleeping == [60] }
      try session.onAllEventsDelivered { recorder.note("all") }
      #expect(recorder.lines == [])
      try await change(fixture, "DROP VIEW transfers; ALTER TABLE stored RENAME TO transfers")
      try await eventually("the handler is called") {
        // The first signal may precede the end of the change.
        if fixture.clock.sleeping == [60] { fixture.clock.advance(by: 60) }
        return recorder.lines.last == "all"
      }
      #expect(recorder.lines == ["\(number) cancelled cover", "all"])
      await session.invalidate()
    }
  }

  @Test("reports an event once, also if it cannot record that at first")
  func unrecorded() async throws {
    try await TransferFixture.with { fixture in
      let recorder = EventRecorder()
      let session = try await waitingSession(fixture, recorder)
      let tasks = try ["a", "b"].map {
        try session.transfer(TransferRequest(download: fixture.url), description: $0)
      }
      try await change(
        fixture, "CREATE TRIGGER refusal BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'refused'); END")
      for task in tasks {
        try task.cancel()
        try await eventually("its end is reported") { recorder.lines.last?.hasPrefix("\(task.number) ") == true }
      }
      try session.onAllEventsDelivered { recorder.note("all") }
      try await eventually("it tries again later") { fixture.clock.sleeping == [60] }
      #expect(try session.transfers.count == 2)
      try await change(fixture, "DROP TRIGGER refusal")
      try await eventually("the handler is called") { recorder.lines.last == "all" }
      #expect(recorder.lines == ["\(tasks[0].number) cancelled a", "\(tasks[1].number) cancelled b", "all"])
      #expect(try session.transfers.isEmpty)
      await session.invalidate()
    }
  }

  @Test("about progress are those of running transfers, after those that earlier builds have stored")
  func progress() async throws {
    final class Progress: TransferDelegate {
      let lines = Mutex<[String]>([])
      func transfer(_ task: TransferTask, didTransfer bytes: Int64, completed: Int64, expected: Int64?) {
        lines.withLock { $0.append("\(task.number): \(bytes) more are \(completed)") }
      }
      func transfer(_ task: TransferTask, didResumeAt offset: Int64, expected: Int64?) {
        lines.withLock { $0.append("\(task.number): resumed at \(offset)") }
      }
      func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {}
    }
    try await TransferFixture.with { fixture in
      let request = TransferRequest(download: fixture.url)
      let numbers = try (0..<2).map { _ in try fixture.journal.add(request, session: "media").number }
      let event = #"{"number":0,"transfer":\#(numbers[1]),"kind":{"resumed":{"_0":600}}}"#
      try await change(
        fixture,
        """
        UPDATE transfers SET json = CAST(json_set(CAST(json AS TEXT), '$.completed', 1000) AS BLOB);
        INSERT INTO events (session, json) VALUES ('media', CAST('\(event)' AS BLOB));
        """)
      try fixture.journal.resume(numbers[1], at: fixture.clock.now)
      let progress = Progress()
      let session = try TransferSession(
        identifier: "media", store: fixture.folder, delegate: progress, clock: fixture.clock, startWorker: {})
      try await eventually("the progress is reported") { progress.lines.withLock(\.count) >= 2 }
      await session.invalidate()
      let number = numbers[1]
      #expect(progress.lines.withLock(\.self) == ["\(number): resumed at 600", "\(number): 1000 more are 1000"])
    }
  }

  @Test("are no longer awaited after the last reference to it")
  func released() async throws {
    try await TransferFixture.with { fixture in
      do {
        let session = try await waitingSession(fixture, EventRecorder())
        withExtendedLifetime(session) {}
      }
      // The clock stands still.
      try await eventually("nothing waits") { fixture.clock.sleeping.isEmpty }
      let next = try await waitingSession(fixture, EventRecorder())
      await next.invalidate()
    }
  }

  @Test("after its invalidation are those of the next session")
  func invalidated() async throws {
    /// Invalidates its session during the first event.
    final class Invalidating: TransferDelegate {
      let ends = Mutex<[Int64]>([])
      let session = Mutex<TransferSession?>(nil)
      let isOver = Mutex(false)
      let wasOverDuringEvent = Mutex<Bool?>(nil)

      func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {
        let isFirst = ends.withLock { ends in
          ends.append(task.number)
          return ends.count == 1
        }
        guard isFirst else { return }
        Task.detached { [self] in
          try? await eventually("the session is known") { session.withLock { $0 != nil } }
          await session.withLock(\.self)?.invalidate()
          isOver.withLock { $0 = true }
        }
        for _ in 0..<6000 where !Task.isCancelled { Thread.sleep(forTimeInterval: 0.01) }
        // The invalidation has begun, and waits for the end of this call.
        Thread.sleep(forTimeInterval: 0.2)
        wasOverDuringEvent.withLock { $0 = isOver.withLock(\.self) }
      }
    }
    try await TransferFixture.with { fixture in
      let request = TransferRequest(download: fixture.url)
      let numbers = try (0..<2).map { _ in try fixture.journal.add(request, session: "media").number }
      for number in numbers { try fixture.journal.cancel(number) }
      let delegate = Invalidating()
      let session = try TransferSession(identifier: "media", store: fixture.folder, delegate: delegate) {}
      delegate.session.withLock { $0 = session }
      try await eventually("it is invalid") { delegate.isOver.withLock(\.self) }
      #expect(delegate.wasOverDuringEvent.withLock(\.self) == false)
      let recorder = EventRecorder()
      let next = try await waitingSession(fixture, recorder)
      #expect(delegate.ends.withLock(\.self) == [numbers[0]])
      #expect(recorder.lines == ["\(numbers[1]) cancelled "])
      await next.invalidate()
    }
  }
}
