import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A session of transfers") struct SessionTests {
  /// A delegate that records its calls.
  private final class Diary: TransferDelegate {
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
    _ depot: Depot, _ diary: Diary, isInForeground: Bool = true, workers: Counter = Counter()
  ) throws -> TransferSession {
    try TransferSession(
      identifier: "media", store: depot.folder, delegate: diary, isInForeground: { isInForeground }
    ) { workers.add() }
  }

  private final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock(\.self) }
    func add() { count.withLock { $0 += 1 } }
  }

  @Test("begins what is resumed and nothing else, and tells what becomes of it")
  func telling() async throws {
    try await Depot.with { depot in
      let (diary, workers) = (Diary(), Counter())
      let session = try session(depot, diary, workers: workers)
      depot.spoil { answer, _, number in number == 0 ? answer.truncated(at: .body(100_000)) : answer }
      try await depot.working {
        let task = try session.transfer(TransferRequest(download: depot.url), description: "cover")
        // A worker without work ends after three seconds.
        try await depot.eventually("nothing happens") { depot.clock.now.uptime > 1002 }
        #expect(depot.server.requests.isEmpty)
        #expect(workers.value == 0)
        try task.resume()
        #expect(workers.value == 1)
        try await depot.eventually("it is told") { diary.lines.count == 3 }
        // The bytes in transit may be lost when the connection is cut.
        #expect(diary.lines[0].wholeMatch(of: /[0-9]+ resumed at [1-9][0-9]* of 300000/) != nil)
        #expect(diary.lines.dropFirst() == ["\(task.number) whole: 300000", "\(task.number) finished cover"])
        let file = try #require(diary.file)
        try await depot.eventually("it is gone") { !FileManager.default.fileExists(atPath: file.path) }
        #expect(try session.transfers.isEmpty)
      }
      await session.invalidate()
    }
  }

  @Test("is told after a new launch of what has happened, in order, and then its handler runs once")
  func replay() async throws {
    try await Depot.with { depot in
      let first = Diary()
      let session = try session(depot, first)
      depot.spoil { answer, _, number in number == 0 ? FaultAnswer(status: 404) : answer }
      let tasks = try ["a", "b", "c"].map {
        try session.transfer(TransferRequest(download: depot.url), description: $0)
      }
      try tasks[0].resume()
      await session.invalidate()
      // The app has ended, and the worker continues.
      try await depot.working {
        try await depot.eventually("the first is over") {
          try depot.journal.transfer(tasks[0].number)?.state == .failed
        }
        for task in tasks.dropFirst() {
          try depot.journal.resume(task.number, at: depot.clock.now)
          _ = try await depot.end(of: task.number)
        }
      }
      #expect(first.lines == [])
      let second = Diary()
      let relaunched = try self.session(depot, second)
      relaunched.whenAllIsTold { second.note("all") }
      try await eventually("all is told") { second.lines.contains("all") }
      let numbers = tasks.map(\.number)
      #expect(
        second.lines == [
          "\(numbers[0]) failed a", "\(numbers[1]) whole: 300000", "\(numbers[1]) finished b",
          "\(numbers[2]) whole: 300000", "\(numbers[2]) finished c", "all",
        ])
      await relaunched.invalidate()
      let third = Diary()
      let again = try self.session(depot, third)
      again.whenAllIsTold { third.note("all") }
      try await eventually("there is nothing more") { third.lines == ["all"] }
      await again.invalidate()
    }
  }

  @Test("is the only one of its identifier, which has letters, digits and little else")
  func identifiers() async throws {
    try await Depot.with { depot in
      let session = try session(depot, Diary())
      #expect(throws: TransferSession.Failure.inUse) { try self.session(depot, Diary()) }
      await session.invalidate()
      await (try self.session(depot, Diary())).invalidate()
      for identifier in ["", "a/b", "../x", String(repeating: "x", count: 65)] {
        #expect(throws: TransferSession.Failure.identifier) {
          try TransferSession(
            identifier: identifier, store: depot.folder, delegate: Diary(), startWorker: {})
        }
      }
    }
  }

  @Test("makes what is begun in the background discretionary")
  func background() async throws {
    try await Depot.with { depot in
      for isInForeground in [true, false] {
        let session = try session(depot, Diary(), isInForeground: isInForeground)
        let task = try session.transfer(TransferRequest(download: depot.url))
        #expect(try task.transfer?.request.isDiscretionary == !isInForeground)
        try task.setTaskDescription("later")
        #expect(try task.taskDescription == "later")
        await session.invalidate()
      }
    }
  }

  @Test("starts a worker for what was under way when everything went down")
  func restart() async throws {
    try await Depot.with { depot in
      let workers = Counter()
      let session = try session(depot, Diary())
      try session.transfer(TransferRequest(download: depot.url)).resume()
      await session.invalidate()
      let again = try self.session(depot, Diary(), workers: workers)
      #expect(workers.value == 1)
      await again.invalidate()
    }
  }
}
