import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("The journal of transfers") struct JournalTests {
  private func files(_ fixture: TransferFixture) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: fixture.journal.folder, includingPropertiesForKeys: nil)
  }

  @Test("is renamed if it is damaged, which is logged", arguments: [0, 100, 5000])
  func damaged(offset: Int) async throws {
    try await TransferFixture.with { fixture in
      let store = fixture.folder.appending(path: "other")
      func use() throws {
        let journal = try TransferJournal(store: store)
        for _ in 0..<40 { _ = try journal.add(TransferRequest(download: fixture.url)) }
      }
      try use()
      let file = store.appending(path: "transfers/journal.sqlite")
      var bytes = try Data(contentsOf: file)
      bytes.replaceSubrange(offset..<min(bytes.count, offset + 4000), with: Data(repeating: 0x5A, count: 4000))
      try bytes.write(to: file)
      let lines = Mutex<[String]>([])
      // The first use detects the damage at the latest; the second use has a new file.
      for _ in 0..<2 {
        _ = try? TransferJournal(store: store) { line in lines.withLock { $0.append(line) } }.transfers()
      }
      let journal = try TransferJournal(store: store) { line in lines.withLock { $0.append(line) } }
      let number = try journal.add(TransferRequest(download: fixture.url)).number
      #expect(try journal.transfers().map(\.number) == [number])
      #expect(lines.withLock { $0.count { $0.contains("damaged") && $0.contains("journal.sqlite.broken-") } } == 1)
    }
  }

  @Test(
    "is renamed if it is damaged, which is also logged by a worker, and by the question whether one is needed",
    arguments: [true, false])
  func damagedBefore(isQuestion: Bool) async throws {
    try await TransferFixture.with { fixture in
      let store = fixture.folder.appending(path: "other")
      _ = try TransferJournal(store: store)
      try Data(repeating: 0x5A, count: 5000).write(to: store.appending(path: "transfers/journal.sqlite"))
      let lines = Mutex<[String]>([])
      let start = Int(Date().timeIntervalSince1970)
      if isQuestion {
        _ = try TransferJournal.needsWorker(store: store, log: { line in lines.withLock { $0.append(line) } })
      } else {
        _ = try TransferWorker(
          store: store, userAgent: "tests/1", log: { line in lines.withLock { $0.append(line) } })
      }
      #expect(lines.withLock { $0.count { $0.contains("journal.sqlite.broken-") } } == 1)
      let line = lines.withLock(\.first) ?? ""
      let time = line.firstMatch(of: /\.broken-([0-9]+)/).flatMap { Int($0.1) }
      #expect(time ?? 0 >= start, "\(line)")
    }
  }

  @Test("is renamed once, also if several threads find the damage")
  func damagedForThreads() async throws {
    try await TransferFixture.with { fixture in
      let store = fixture.folder.appending(path: "other")
      func fill() throws {
        let journal = try TransferJournal(store: store)
        let description = String(repeating: "x", count: 20_000)
        for _ in 0..<500 { _ = try journal.add(TransferRequest(download: fixture.url), description: description) }
      }
      try fill()
      // The first pages stay as they are, so that the damage is found by reading, which takes a while.
      let file = store.appending(path: "transfers/journal.sqlite")
      let bytes = try Data(contentsOf: file)
      try (bytes.prefix(bytes.count / 2) + Data(repeating: 0x5A, count: bytes.count - bytes.count / 2)).write(to: file)
      let (lines, ended) = (Counter(), Counter())
      let journal = try TransferJournal(store: store) { _ in lines.add() }
      #expect(lines.value == 0)
      for _ in 0..<8 {
        Thread.detachNewThread {
          _ = try? journal.transfers()
          ended.add()
        }
      }
      try await eventually("all have read") { ended.value == 8 }
      #expect(lines.value == 1)
      #expect(try journal.add(TransferRequest(download: fixture.url)).number == 1)
    }
  }

  @Test("keeps header fields until the end of the transfer, in files that only the user can read")
  func secrets() async throws {
    let key = "Bearer s3cret-of-the-desk"
    func hasKey(_ fixture: TransferFixture) throws -> Bool {
      try files(fixture).contains { try Data(contentsOf: $0).range(of: Data(key.utf8)) != nil }
    }
    try await TransferFixture.with { fixture in
      for refusal in [201, 403] {
        fixture.modify { response, _, number in
          number % 2 == 0 ? .busy(503, retryAfter: nil) : refusal == 201 ? response : FaultResponse(status: refusal)
        }
        let file = fixture.folder.appending(path: "input.bin")
        try Data("x".utf8).write(to: file)
        var request = TransferRequest(upload: file, to: fixture.url)
        request.headers = ["Authorization": key]
        let number = try fixture.journal.add(request).number
        try fixture.journal.resume(number, at: fixture.clock.now)
        #expect(try hasKey(fixture))
        var folder = stat()
        #expect(stat(fixture.journal.folder.path, &folder) == 0)
        #expect(folder.st_mode & 0o777 == 0o700)
        for file in try files(fixture) {
          var information = stat()
          #expect(stat(file.path, &information) == 0)
          #expect(information.st_mode & 0o777 == 0o600, "\(file.lastPathComponent)")
        }
        try await fixture.working {
          let transfer = try await fixture.end(of: number)
          #expect(transfer.state == (refusal == 201 ? .finished : .failed))
          #expect(transfer.request.headers.isEmpty)
        }
        #expect(fixture.server.requests.allSatisfy { $0["Authorization"] == key })
        #expect(try !hasKey(fixture))
        guard refusal == 403 else { continue }
        let error = #expect(throws: FetchError.self) { try fixture.journal.resume(number, at: fixture.clock.now) }
        #expect(error?.code == .rejected)
        #expect(fixture.server.requests.count == 4)
      }
    }
  }

  @Test("overwrites header fields at the end of the transfer, also those that need pages of their own")
  func largeSecrets() async throws {
    try await TransferFixture.with { fixture in
      let key = "s3cret-of-the-desk"
      let file = fixture.folder.appending(path: "input.bin")
      try Data("x".utf8).write(to: file)
      var request = TransferRequest(upload: file, to: fixture.url)
      request.headers = ["Cookie": String(repeating: "x", count: 6000) + key]
      let number = try fixture.journal.add(request).number
      try fixture.journal.resume(number, at: fixture.clock.now)
      try await fixture.working { try await fixture.finish(number) }
      #expect(fixture.server.requests.first?["Cookie"]?.hasSuffix(key) == true)
      for file in try files(fixture) {
        #expect(try Data(contentsOf: file).range(of: Data(key.utf8)) == nil, "\(file.lastPathComponent)")
      }
    }
  }

  @Test("resumes a failed transfer before its session has received the failure")
  func resumedBeforeReport() async throws {
    final class Silent: TransferDelegate {
      let ends = Mutex<[Transfer.State]>([])
      func transfer(_ task: TransferTask, didEndAs transfer: Transfer) { ends.withLock { $0.append(transfer.state) } }
    }
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, number in number == 0 ? FaultResponse(status: 404) : response }
      let number = try fixture.journal.add(TransferRequest(download: fixture.url), session: "media").number
      let other = try fixture.journal.add(TransferRequest(download: fixture.url), session: "media").number
      try fixture.journal.resume(number, at: fixture.clock.now)
      try await fixture.working {
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
        try fixture.journal.resume(other, at: fixture.clock.now)
        try await fixture.finish(other)
      }
      #expect(try fixture.journal.resume(number, at: fixture.clock.now))
      let delegate = Silent()
      let session = try TransferSession(identifier: "media", store: fixture.folder, delegate: delegate) {}
      try await fixture.working {
        try await fixture.eventually("both ends are reported") { delegate.ends.withLock(\.count) >= 2 }
      }
      #expect(delegate.ends.withLock(\.self) == [.finished, .finished])
      await session.invalidate()
    }
  }

  @Test("keeps all transfers but those without a session that ended before the last hundred were added")
  func retention() async throws {
    try await TransferFixture.with { fixture in
      let journal = fixture.journal
      func add(_ session: String? = nil) throws -> Int64 {
        try journal.add(TransferRequest(download: fixture.url), session: session).number
      }
      fixture.modify { response, _, number in number == 0 ? FaultResponse(status: 404) : response }
      let numbers = [try add("media"), try add(), try add(), try add(), try add(), try add()]
      try await fixture.working {
        for number in numbers[3...4] {
          try journal.resume(number, at: fixture.clock.now)
          _ = try await fixture.end(of: number)
        }
      }
      for number in [numbers[0], numbers[5]] { try journal.cancel(number) }
      try journal.resume(numbers[2])
      let states: [Transfer.State] = [.cancelled, .suspended, .running, .failed, .finished, .cancelled]
      #expect(try journal.transfers().map(\.state) == states)
      func kept() throws -> [Int64] { try journal.transfers().map(\.number).filter(numbers.contains) }
      for _ in 0..<99 { _ = try add() }
      #expect(try kept() == Array(numbers[0...2]) + [numbers[5]])
      _ = try add()
      #expect(try kept() == Array(numbers[0...2]))
    }
  }

  @Test("suspends, resumes and cancels no transfer that has ended")
  func ended() async throws {
    try await TransferFixture.with { fixture in
      let number = try fixture.download()
      try await fixture.working { try await fixture.finish(number) }
      try fixture.journal.suspend(number)
      try fixture.journal.cancel(number)
      #expect(try fixture.journal.resume(number, at: fixture.clock.now) == false)
      #expect(try fixture.journal.transfer(number)?.state == .finished)
    }
  }

  @Test("stores downloads for the user alone, except at a destination elsewhere")
  func modes() async throws {
    try await TransferFixture.with { fixture in
      // Its name begins like that of the store.
      let elsewhere = FileManager.default.temporaryDirectory.appending(path: fixture.folder.lastPathComponent + "-copy")
      defer { try? FileManager.default.removeItem(at: elsewhere) }
      try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
      func mode(_ file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      }
      // The mode that the umask gives to new files.
      close(open(elsewhere.appending(path: "usual").path, O_WRONLY | O_CREAT, 0o666))
      let usual = try mode(elsewhere.appending(path: "usual"))
      let file = elsewhere.appending(path: "file")
      try await fixture.working {
        try await fixture.finish(fixture.download())
        try await fixture.finish(fixture.download { $0.file = file })
        try await fixture.finish(fixture.download { $0.file = nil })
      }
      #expect(try mode(fixture.output) == 0o600)
      let kept = try #require(try fixture.files().first { $0.hasSuffix(".whole") })
      #expect(try mode(fixture.folder.appending(path: kept)) == 0o600)
      #expect(try mode(file) == usual)
    }
  }

  @Test("has a new time after each commit, which wakes a process again that has read too early")
  func wake() async throws {
    try await TransferFixture.with { fixture in
      let file = fixture.journal.folder.appending(path: "journal.sqlite")
      let past = Date(timeIntervalSince1970: 1_000_000_000)
      try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: file.path)
      _ = try fixture.journal.add(TransferRequest(download: fixture.url))
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      let time = try #require(attributes[.modificationDate] as? Date)
      #expect(time > past)
    }
  }

  @Test("has the same names for members of a request as earlier builds")
  func storedNames() throws {
    var request = TransferRequest(download: try #require(URL(string: "https://news.example/file")))
    (request.maximumBytes, request.noResponseTimeout) = (1, .seconds(2))
    let members = try JSONSerialization.jsonObject(with: JSONEncoder().encode(request)) as? [String: Any]
    #expect(Set(["mostBytes", "patience", "silencePatience"]).isSubset(of: members?.keys.map { $0 } ?? []))
  }
}
