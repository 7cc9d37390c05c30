import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A journal that cannot be written") struct JournalFailureTests {
  @Test("ends the worker, which does not try a transfer again whose failure it cannot store", .timeLimit(.minutes(1)))
  func unstored() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { _, _, _ in .busy(503, retryAfter: nil) }
      _ = try fixture.download()
      let queue = try DatabaseQueue(path: fixture.folder.appending(path: "transfers/journal.sqlite").path)
      try await queue.write { db in
        try db.execute(
          sql: """
            CREATE TRIGGER refusal BEFORE UPDATE ON transfers
            WHEN instr(CAST(NEW.json AS TEXT), '"failure":') > 0 BEGIN SELECT RAISE(ABORT, 'refused'); END
            """)
      }
      try queue.close()
      let worker = try TransferWorker(store: fixture.folder, userAgent: "tests/1", clock: fixture.clock)
      let error = await #expect(throws: FetchError.self) { _ = try await worker.run() }
      #expect(error?.code == .storage)
      #expect(error?.message.hasSuffix(": refused") == true, "\(error?.message ?? "")")
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test("is read nevertheless, and written as soon as that is possible")
  func readOnly() async throws {
    try await TransferFixture.with { fixture in
      let store = fixture.folder.appending(path: "other")
      let request = TransferRequest(download: fixture.url)
      func add() throws -> Int64 { try TransferJournal(store: store).add(request).number }
      let first = try add()
      // SQLite cannot open its log.
      let log = store.appending(path: "transfers/journal.sqlite-wal")
      try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
      let lines = Mutex<[String]>([])
      let journal = try TransferJournal(store: store) { line in lines.withLock { $0.append(line) } }
      #expect(try journal.transfers().map(\.number) == [first])
      let error = #expect(throws: FetchError.self) { _ = try journal.add(request) }
      #expect(error?.code == .storage)
      #expect(error?.message.contains("journal.sqlite: it cannot be opened") == true, "\(error?.message ?? "")")
      try FileManager.default.removeItem(at: log)
      let second = try journal.add(request).number
      #expect(try journal.transfers().map(\.number) == [first, second])
      #expect(lines.withLock(\.self) == [], "it is not damaged")
    }
  }

  @Test("is not created by the question whether a worker is needed, which queries the machine only if that matters")
  func question() async throws {
    try await TransferFixture.with { fixture in
      let none = fixture.folder.appending(path: "none")
      #expect(try !TransferJournal.needsWorker(store: none))
      #expect(!FileManager.default.fileExists(atPath: none.path))
      var queries = 0
      func isNeeded() throws -> Bool {
        try TransferJournal.needsWorker(
          store: fixture.folder,
          obstacles: {
            queries += 1
            return [.network]
          }, clock: fixture.clock)
      }
      _ = try fixture.download { $0.isDiscretionary = true }
      var isWanted = try isNeeded()
      #expect(!isWanted && queries == 1)
      _ = try fixture.download { $0.file = fixture.folder.appending(path: "plain.bin") }
      isWanted = try isNeeded()
      #expect(isWanted && queries == 1)
    }
  }
}
