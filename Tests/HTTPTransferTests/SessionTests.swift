import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A session of transfers") struct SessionTests {
  /// A delegate that records its calls.
  private final class EventRecorder: TransferDelegate {
    private let written = Mutex<[String]>([])
    private let files = Mutex<[URL]>([])

    var lines: [String] { written.withLock(\.self) }
    var file: URL? { files.withLock(\.last) }

    func note(_ line: String) { written.withLock { $0.append(line) } }

    func transfer(_ task: TransferTask, didResumeAt offset: Int64, expected: Int64?) {
      note("\(task.number) resumed at \(offset) of \(expected ?? -1)")
    }

    func transfer(_ task: TransferTask, didFinishDownloadingTo file: URL) {
      files.withLock { $0.append(file) }
      note("\(task.number) whole: \((try? Data(contentsOf: file))?.count ?? -1)")
    }

    func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {
      note("\(task.number) \(transfer.state.rawValue) \(transfer.taskDescription ?? "")")
    }
  }

  private func session(
    _ fixture: TransferFixture, _ recorder: EventRecorder, isInForeground: Bool = true, workers: Counter = Counter()
  ) throws -> TransferSession {
    try TransferSession(
      identifier: "media", store: fixture.folder, delegate: recorder, isInForeground: { isInForeground }
    ) { workers.add() }
  }

  @Test("starts only resumed transfers, and reports their events")
  func telling() async throws {
    try await TransferFixture.with { fixture in
      let (recorder, workers) = (EventRecorder(), Counter())
      let session = try session(fixture, recorder, workers: workers)
      _ = try fixture.journal.add(TransferRequest(download: fixture.url))
      fixture.modify { response, _, number in number == 0 ? response.truncated(at: .body(100_000)) : response }
      try await fixture.working {
        let task = try session.transfer(TransferRequest(download: fixture.url), description: "cover")
        // A worker without work ends after three seconds.
        try await fixture.eventually("nothing happens") { fixture.clock.now.uptime > 1002 }
        #expect(fixture.server.requests.isEmpty)
        #expect(workers.value == 0)
        try task.resume()
        #expect(workers.value == 1)
        try await fixture.eventually("the events are delivered") { recorder.lines.count == 3 }
        // The bytes in transit may be lost when the connection is cut.
        #expect(recorder.lines[0].wholeMatch(of: /[0-9]+ resumed at [1-9][0-9]* of 300000/) != nil)
        #expect(recorder.lines.dropFirst() == ["\(task.number) whole: 300000", "\(task.number) finished cover"])
        let file = try #require(recorder.file)
        try await fixture.eventually("it is gone") { !FileManager.default.fileExists(atPath: file.path) }
        #expect(try session.transfers.isEmpty, "the first one is not of the session")
      }
      await session.invalidate()
    }
  }

  @Test("receives the past events in order after a relaunch, and then calls its handler once")
  func replay() async throws {
    try await TransferFixture.with { fixture in
      let first = EventRecorder()
      let session = try session(fixture, first)
      fixture.modify { response, _, number in number == 0 ? FaultResponse(status: 404) : response }
      let tasks = try ["a", "b", "c"].map {
        try session.transfer(TransferRequest(download: fixture.url), description: $0)
      }
      try tasks[0].resume()
      await session.invalidate()
      // The app has ended, and the worker continues.
      try await fixture.working {
        try await fixture.eventually("the first is over") {
          try fixture.journal.transfer(tasks[0].number)?.state == .failed
        }
        for task in tasks.dropFirst() {
          try fixture.journal.resume(task.number, at: fixture.clock.now)
          _ = try await fixture.end(of: task.number)
        }
      }
      #expect(first.lines == [])
      let second = EventRecorder()
      let relaunched = try self.session(fixture, second)
      try relaunched.onAllEventsDelivered { second.note("all") }
      try await eventually("all events are delivered") { second.lines.contains("all") }
      let numbers = tasks.map(\.number)
      #expect(
        second.lines == [
          "\(numbers[0]) failed a", "\(numbers[1]) whole: 300000", "\(numbers[1]) finished b",
          "\(numbers[2]) whole: 300000", "\(numbers[2]) finished c", "all",
        ])
      await relaunched.invalidate()
      let third = EventRecorder()
      let again = try self.session(fixture, third)
      try again.onAllEventsDelivered { third.note("all") }
      try await eventually("there is nothing more") { third.lines == ["all"] }
      await again.invalidate()
    }
  }

  @Test("reports after a relaunch that a transfer was resumed, and then its end")
  func resumedBeforeRelaunch() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in number == 0 ? response.hanging(at: .body(100_000)) : response }
      let session = try session(fixture, EventRecorder())
      let task = try session.transfer(TransferRequest(download: fixture.url), description: "cover")
      try task.resume()
      await session.invalidate()
      try await fixture.working {
        try await fixture.eventually("a part is stored") { try fixture.partialSize() == 100_000 }
        await fixture.server.closeConnections()
        try await fixture.finish(task.number)
      }
      let recorder = EventRecorder()
      let relaunched = try self.session(fixture, recorder)
      try await eventually("the end is reported") { try relaunched.transfers.isEmpty }
      let number = task.number
      #expect(
        recorder.lines == [
          "\(number) resumed at 100000 of 300000", "\(number) whole: 300000", "\(number) finished cover",
        ])
      await relaunched.invalidate()
    }
  }

  @Test("reports after a relaunch that a transfer was resumed before a failure after which the user resumed it")
  func resumedAfterFailure() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in
        switch number {
        case 0: response.hanging(at: .body(100_000))
        case 1: response.hanging(at: .body(50_000))
        case 2: FaultResponse(status: 404)
        default: response
        }
      }
      let session = try session(fixture, EventRecorder())
      let task = try session.transfer(TransferRequest(download: fixture.url), description: "cover")
      try task.resume()
      await session.invalidate()
      try await fixture.working {
        for size in [100_000, 150_000] {
          try await fixture.eventually("a part is stored") { try fixture.partialSize() == size }
          await fixture.server.closeConnections()
        }
        #expect(try await fixture.end(of: task.number).state == .failed)
        try fixture.journal.resume(task.number, at: fixture.clock.now)
        try await fixture.finish(task.number)
      }
      let (number, recorder) = (task.number, EventRecorder())
      let relaunched = try self.session(fixture, recorder)
      try await eventually("the end is reported") { try relaunched.transfers.isEmpty }
      #expect(recorder.lines.dropFirst() == ["\(number) whole: 300000", "\(number) finished cover"])
      #expect(recorder.lines.first == "\(number) resumed at 100000 of 300000")
      await relaunched.invalidate()
    }
  }

  @Test("reports the progress of a running transfer")
  func progress() async throws {
    final class Progress: TransferDelegate {
      let reports = Mutex<[(bytes: Int64, completed: Int64, expected: Int64?)]>([])

      func transfer(_ task: TransferTask, didTransfer bytes: Int64, completed: Int64, expected: Int64?) {
        reports.withLock { $0.append((bytes, completed, expected)) }
      }

      func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {}
    }
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in
        number == 0
          ? response.dripping(bytes: 5_000, every: .milliseconds(100)).hanging(at: .body(150_000)) : response
      }
      let delegate = Progress()
      let session = try TransferSession(identifier: "media", store: fixture.folder, delegate: delegate) {}
      try session.transfer(TransferRequest(download: fixture.url)).resume()
      try await fixture.working {
        let start = fixture.clock.now
        try await eventually("progress is reported") {
          fixture.clock.advance(by: 0.05)
          return delegate.reports.withLock { !$0.isEmpty }
        }
        #expect(fixture.clock.now.seconds(since: start) < 60, "before the end of the attempt")
        // The server releases only a response that waits.
        try await eventually("the server waits") { try fixture.partialSize() == 150_000 }
        fixture.server.release()
        try await fixture.eventually("its end is reported") { try session.transfers.isEmpty }
      }
      await session.invalidate()
      let reports = delegate.reports.withLock(\.self)
      #expect(reports.allSatisfy { $0.bytes > 0 && $0.expected == 300_000 })
      let sums = reports.indices.map { index in reports[...index].reduce(0) { $0 + $1.bytes } }
      #expect(reports.map(\.completed) == sums)
    }
  }

  @Test("leaves a download at its destination")
  func destination() async throws {
    try await TransferFixture.with { fixture in
      let recorder = EventRecorder()
      let session = try session(fixture, recorder)
      try session.transfer(TransferRequest(download: fixture.url, to: fixture.output)).resume()
      try await fixture.working {
        try await fixture.eventually("its end is reported") { try session.transfers.isEmpty }
      }
      #expect(recorder.lines.count == 2)
      #expect(FileManager.default.fileExists(atPath: fixture.output.path))
      await session.invalidate()
    }
  }

  @Test("continues a transfer that its delegate resumes when it has failed")
  func resumedByDelegate() async throws {
    final class Resuming: TransferDelegate {
      let states = Mutex<[Transfer.State]>([])
      func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {
        states.withLock { $0.append(transfer.state) }
        if transfer.state == .failed { try? task.resume() }
      }
    }
    try await TransferFixture.with { fixture in
      let delegate = Resuming()
      let session = try TransferSession(identifier: "media", store: fixture.folder, delegate: delegate) {}
      fixture.modify { response, _, number in number == 0 ? FaultResponse(status: 404) : response }
      try session.transfer(TransferRequest(download: fixture.url)).resume()
      try await fixture.working {
        try await fixture.eventually("it is complete") { delegate.states.withLock(\.self) == [.failed, .finished] }
      }
      await session.invalidate()
    }
  }

  @Test("needs a free and valid identifier")
  func identifiers() async throws {
    try await TransferFixture.with { fixture in
      let session = try session(fixture, EventRecorder())
      let start = ContinuousClock.now
      #expect(throws: TransferSession.Failure.inUse) { try self.session(fixture, EventRecorder()) }
      #expect(ContinuousClock.now - start >= .milliseconds(15), "a worker may look at the lock at this moment")
      await session.invalidate()
      await (try self.session(fixture, EventRecorder())).invalidate()
      let longest = try TransferSession(
        identifier: String(repeating: "Az.9", count: 15) + "_-az", store: fixture.folder, delegate: EventRecorder(),
        startWorker: {})
      await longest.invalidate()
      for identifier in ["", "a/b", "../x", String(repeating: "x", count: 65)] {
        #expect(throws: TransferSession.Failure.identifier) {
          try TransferSession(
            identifier: identifier, store: fixture.folder, delegate: EventRecorder(), startWorker: {})
        }
      }
    }
  }

  @Test("opens although a worker looks at its lock at this moment")
  func lookedAt() async throws {
    try await TransferFixture.with { fixture in
      let lock = FetchLock(path: fixture.journal.folder.appending(path: "session-media.lock").path)
      let released = Counter()
      var opened: TransferSession?
      // On a busy machine, the lock may be released too late.
      for round in 0..<20 where opened == nil {
        var held: FetchLock.Handle?
        try await eventually("the lock is free") {
          if released.value == round { held = try lock.acquire() }
          return held != nil
        }
        let handle = try #require(held)
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        inotify_add_watch(watch, lock.path, UInt32(IN_CLOSE_WRITE))
        Thread.detachNewThread {
          // The session closes the file when it has found it locked.
          var event = [UInt8](repeating: 0, count: 4096)
          _ = read(watch, &event, event.count)
          handle.release()
          close(watch)
          released.add()
        }
        opened = try? self.session(fixture, EventRecorder())
      }
      await (try #require(opened)).invalidate()
    }
  }

  @Test("makes transfers discretionary that are added in the background")
  func background() async throws {
    try await TransferFixture.with { fixture in
      for isInForeground in [true, false] {
        let session = try session(fixture, EventRecorder(), isInForeground: isInForeground)
        let task = try session.transfer(TransferRequest(download: fixture.url))
        #expect(try task.transfer?.request.isDiscretionary == !isInForeground)
        try task.setTaskDescription("later")
        #expect(try task.taskDescription == "later")
        await session.invalidate()
      }
    }
  }

  @Test("starts a worker for transfers that were running before a shutdown")
  func restart() async throws {
    try await TransferFixture.with { fixture in
      let workers = Counter()
      let session = try session(fixture, EventRecorder())
      let task = try session.transfer(TransferRequest(download: fixture.url))
      await session.invalidate()
      let idle = try self.session(fixture, EventRecorder(), workers: workers)
      #expect(workers.value == 0, "a suspended transfer needs none")
      await idle.invalidate()
      try fixture.journal.resume(task.number, at: fixture.clock.now)
      let again = try self.session(fixture, EventRecorder(), workers: workers)
      #expect(workers.value == 1)
      await again.invalidate()
    }
  }

  @Test("suspends, continues and cancels a transfer by its handle, and starts no worker for one that has ended")
  func handles() async throws {
    try await TransferFixture.with { fixture in
      let (recorder, workers) = (EventRecorder(), Counter())
      let session = try session(fixture, recorder, workers: workers)
      let task = try session.transfer(TransferRequest(download: fixture.url), description: "cover")
      try task.resume()
      #expect(try task.transfer?.state == .running)
      try task.suspend()
      #expect(try task.transfer?.state == .suspended)
      try session.task(try #require(try task.transfer)).resume()
      #expect(try task.transfer?.state == .running)
      #expect(workers.value == 2)
      try task.cancel()
      try await eventually("its end is reported") { recorder.lines == ["\(task.number) cancelled cover"] }
      try task.resume()
      #expect(workers.value == 2)
      // The number of a transfer stays its own.
      try await eventually("it is removed") { try session.transfers.isEmpty }
      #expect(try session.transfer(TransferRequest(download: fixture.url)).number == task.number + 1)
      await session.invalidate()
    }
  }

  @Test("keeps its handler until it is called, and refuses another one")
  func oneHandler() async throws {
    try await TransferFixture.with { fixture in
      let recorder = EventRecorder()
      let session = try session(fixture, recorder)
      // A suspended transfer holds nothing up.
      _ = try session.transfer(TransferRequest(download: fixture.url))
      let task = try session.transfer(TransferRequest(download: fixture.url))
      try task.resume()
      try session.onAllEventsDelivered { recorder.note("first") }
      #expect(throws: TransferSession.Failure.hasHandler) {
        try session.onAllEventsDelivered { recorder.note("second") }
      }
      try await fixture.working {
        try await fixture.eventually("the handler is called") { recorder.lines.last == "first" }
        #expect(recorder.lines.count == 3, "the transfer has ended before")
      }
      try session.onAllEventsDelivered { recorder.note("third") }
      try await eventually("the next handler is called") { recorder.lines.suffix(2) == ["first", "third"] }
      await session.invalidate()
    }
  }
}
