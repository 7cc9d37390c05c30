import Crypto
import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import Synchronization
import TestKit
import Testing

/// Downloads whose rest is not that of the part which is there.
extension DownloadTests {
  /// The difference by which a rest is recognised as that of another version.
  enum Difference: CaseIterable {
    case tag, length, coding
  }

  @Test("begins again if the rest is of another version in spite of If-Range", arguments: Difference.allCases)
  func otherVersion(difference: Difference) async throws {
    let content = TransferFixture.content(300_000)
    let other = TransferFixture.content(difference == .length ? 260_000 : 300_000, seed: 2)
    try await TransferFixture.with(content) { fixture in
      // A server that ignores `If-Range` and sends no digest.
      fixture.modify { response, request, number in
        if number == 0 { return response.removing("Repr-Digest").truncated(at: .body(100_000)) }
        let whole = FaultResponse(
          headers: [("Content-Type", "application/octet-stream"), ("ETag", "\"two\"")], body: other)
        guard let first = request["Range"]?.wholeMatch(of: /bytes=([0-9]+)-/).flatMap({ Int($0.1) }) else {
          return whole
        }
        var rest = whole.setting("Content-Range", "bytes \(first)-\(other.count - 1)/\(other.count)")
        (rest.status, rest.body) = (206, other.dropFirst(first))
        return switch difference {
        case .tag: rest
        case .length: rest.removing("ETag")
        case .coding: rest.setting("ETag", "\"one\"").setting("Content-Encoding", "gzip")
        }
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .finished)
        #expect(try Data(contentsOf: fixture.output) == other)
      }
    }
  }

  @Test("is checked against the announced digest, also if the rest comes without one")
  func digestOfTheFirstPart() async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      fixture.modify { response, _, number in
        if number == 0 { return response.truncated(at: .body(100_000)) }
        guard number == 1 else { return response }
        return response.removing("Repr-Digest").body { Data($0.dropLast()) + [($0.last ?? 0) ^ 1] }
      }
      try await fixture.working { try await fixture.finish(fixture.download()) }
      #expect(try Data(contentsOf: fixture.output) == content)
      #expect(fixture.server.requests.count >= 3)
    }
  }

  @Test("is checked against the announced digest, whichever line of the field has it")
  func digestLines() async throws {
    let content = TransferFixture.content(1000)
    try await TransferFixture.with(content) { fixture in
      fixture.modify { original, _, number in
        let digest = original["Repr-Digest"] ?? ""
        var response = original.setting("Repr-Digest", "sha-512=:AAAA:").adding("Repr-Digest", digest)
        if number == 0 { response.body[7] ^= 1 }
        return response
      }
      try await fixture.working { try await fixture.finish(fixture.download()) }
      #expect(try Data(contentsOf: fixture.output) == content)
      #expect(fixture.server.requests.count == 2)
    }
  }

  @Test("fails if its part is removed while the rest arrives")
  func removedPart() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.hanging(at: .body(150_000)) }
      try await fixture.working {
        let number = try fixture.download()
        try await fixture.eventually("a part is there") { try fixture.partialSize() == 150_000 }
        try FileManager.default.removeItem(at: fixture.folder.appending(path: ".output.bin.\(number).part"))
        fixture.server.release()
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "no such file or directory")
      }
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test(
    "is complete if a killed process has moved it, which its announced or required digest tells from another file",
    arguments: [true, false], [true, false])
  func moved(isMoved: Bool, isAnnounced: Bool) async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      let digest = SHA256.hash(data: content).hexadecimal
      let number = try fixture.download { $0.sha256 = isAnnounced ? nil : digest.uppercased() }
      try await record(fixture, number, digest: isAnnounced ? digest : nil)
      try (isMoved ? content : TransferFixture.content(300_000, seed: 2)).write(to: fixture.output)
      try await fixture.working { try await fixture.finish(number) }
      #expect(try Data(contentsOf: fixture.output) == content)
      #expect(fixture.server.requests.count == (isMoved ? 0 : 1))
    }
  }

  @Test("is complete if a killed process has moved it without its coding, whose digest the server has announced")
  func movedUnpacked() async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      let number = try fixture.download()
      try await record(fixture, number, digest: String(repeating: "0", count: 64), coding: "gzip")
      try content.write(to: fixture.output)
      try await fixture.working { try await fixture.finish(number) }
      #expect(try Data(contentsOf: fixture.output) == content)
      #expect(fixture.server.requests.isEmpty)
    }
  }

  @Test(
    "takes the place of an older file if a process was killed before it has moved the complete one or recorded it",
    arguments: [300_000, 100_000])
  func notMoved(recorded: Int) async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      let number = try fixture.download()
      try await record(fixture, number, completed: recorded, digest: nil)
      try content.write(to: fixture.folder.appending(path: ".output.bin.\(number).part"))
      try TransferFixture.content(300_000, seed: 2).write(to: fixture.output)
      try await fixture.working { try await fixture.finish(number) }
      #expect(try Data(contentsOf: fixture.output) == content)
      #expect(try fixture.server.requests.isEmpty && fixture.files() == ["output.bin"])
      #expect(try fixture.journal.transfer(number)?.completed == 300_000)
    }
  }

  @Test("is requested again if its part is gone, even if an older file is there", arguments: [300_000, 100_000])
  func lost(recorded: Int) async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      let number = try fixture.download()
      try await record(fixture, number, completed: recorded, digest: nil)
      // If all bytes were recorded, an older file could be the moved one.
      if recorded < 300_000 { try TransferFixture.content(300_000, seed: 2).write(to: fixture.output) }
      try await fixture.working { try await fixture.finish(number) }
      #expect(try Data(contentsOf: fixture.output) == content)
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test("leaves no file if it is cancelled while no worker runs")
  func cancelledAtRest() async throws {
    try await TransferFixture.with { fixture in
      fixture.modify { response, _, _ in response.hanging(at: .body(150_000)) }
      let number = try fixture.download()
      try await fixture.working {
        try await fixture.eventually("a part is there") { try fixture.partialSize() == 150_000 }
      }
      // A process that was killed has left a half of the unpacked file.
      let part = fixture.folder.appending(path: ".output.bin.\(number).part")
      try Data(count: 10).write(to: part.appendingPathExtension("decoded"))
      #expect(try fixture.files().count == 2)
      try fixture.journal.cancel(number)
      #expect(try fixture.files() == [])
    }
  }

  @Test("fails if a folder has its name, and leaves no part")
  func occupied() async throws {
    try await TransferFixture.with { fixture in
      let number = try fixture.download()
      try FileManager.default.createDirectory(at: fixture.output, withIntermediateDirectories: true)
      try await fixture.working {
        let transfer = try await fixture.end(of: number)
        #expect(transfer.state == .failed)
        #expect(transfer.failure == "cannot write the file: is a directory")
      }
      #expect(try fixture.files() == ["output.bin"])
    }
  }

  /// Leaves the record of a process behind that was killed when all bytes had arrived.
  private func record(
    _ fixture: TransferFixture, _ number: Int64, completed: Int = 300_000, digest: String?, coding: String? = nil
  ) async throws {
    let queue = try DatabaseQueue(path: fixture.folder.appending(path: "transfers/journal.sqlite").path)
    try await queue.write { db in
      let stored = try Data.fetchOne(db, sql: "SELECT json FROM transfers WHERE number = ?", arguments: [number])
      var json = try JSONSerialization.jsonObject(with: stored ?? Data()) as? [String: Any] ?? [:]
      (json["completed"], json["total"]) = (completed, 300_000)
      json["announcedSHA256"] = digest
      json["coding"] = coding
      let data = try JSONSerialization.data(withJSONObject: json)
      try db.execute(sql: "UPDATE transfers SET json = ? WHERE number = ?", arguments: [data, number])
    }
    try queue.close()
  }

  @Test("that is suspended while its last bytes arrive appears once it is resumed, without another request")
  func suspendedAtTheEnd() async throws {
    final class Suspending: HTTPTransport {
      let requests = Mutex(0)
      private let journal: TransferJournal

      init(_ journal: TransferJournal) { self.journal = journal }

      func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
        requests.withLock { $0 += 1 }
        let parts = Mutex([Data(count: 1000)])
        let body = AsyncThrowingStream<Data, any Error> { [journal] in
          if let part = parts.withLock({ $0.popLast() }) { return part }
          for transfer in try journal.transfers() { try journal.suspend(transfer.number) }
          return nil
        }
        return HTTPTransportResponse(status: 200, headers: [HTTPHeader("Content-Length", "1000")], body: body)
      }

      func upload(
        _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
      ) async throws -> HTTPTransportResponse { throw HTTPTransportError(.broken, "not used") }
    }
    try await TransferFixture.with { fixture in
      let transport = Suspending(fixture.journal)
      let worker = try TransferWorker(
        store: fixture.folder, userAgent: "tests/1", transport: transport, clock: fixture.clock)
      let task = Task { try await worker.run() }
      let files = (0..<10).map { fixture.folder.appending(path: "\($0).bin") }
      // The worker learns of the suspension while the download ends.
      for file in files {
        let number = try fixture.download { $0.file = file }
        try await fixture.eventually("it is suspended") { try fixture.journal.transfer(number)?.state == .suspended }
      }
      task.cancel()
      _ = try await task.value
      #expect(!files.contains { FileManager.default.fileExists(atPath: $0.path) })
      let numbers = try fixture.journal.transfers().map(\.number)
      for number in numbers { try fixture.journal.resume(number, at: fixture.clock.now) }
      try await fixture.working { for number in numbers { try await fixture.finish(number) } }
      #expect(files.allSatisfy { FileManager.default.fileExists(atPath: $0.path) })
      #expect(transport.requests.withLock(\.self) == 10 && fixture.server.requests.isEmpty)
    }
  }

  /// A transport whose connection breaks after the last byte.
  private struct Breaking: HTTPTransport {
    let content: Data

    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      let body = AsyncThrowingStream<Data, any Error> { [content] continuation in
        continuation.yield(content)
        continuation.finish(throwing: HTTPTransportError(.broken, "it broke"))
      }
      return HTTPTransportResponse(
        status: 200, headers: [HTTPHeader("Content-Length", "\(content.count)")], body: body)
    }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { throw HTTPTransportError(.broken, "not used") }
  }

  @Test("is complete although the connection breaks after its last byte, which is logged")
  func brokenAtTheEnd() async throws {
    let content = TransferFixture.content(4096)
    try await TransferFixture.with { fixture in
      let lines = Mutex<[String]>([])
      let number = try fixture.download()
      try await fixture.working(
        transport: Breaking(content: content), log: { line in lines.withLock { $0.append(line) } }
      ) {
        try await fixture.finish(number)
      }
      #expect(try Data(contentsOf: fixture.output) == content)
      let line = "transfer \(number): the content was interrupted after 4.0 of 4.0 KiB: it broke"
      #expect(lines.withLock(\.self) == [line])
    }
  }

  /// A transport that replaces the part with a pipe when all bytes have arrived. Its digest is known at the end of the pipe.
  private struct Piping: HTTPTransport {
    let file: URL
    let content: Data

    func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
      let parts = Mutex([content])
      let body = AsyncThrowingStream<Data, any Error> { [file] in
        if let part = parts.withLock({ $0.popLast() }) { return part }
        unlink(file.path)
        mkfifo(file.path, 0o600)
        return nil
      }
      return HTTPTransportResponse(
        status: 200, headers: [HTTPHeader("Content-Length", "\(content.count)")], body: body)
    }

    func upload(
      _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
    ) async throws -> HTTPTransportResponse { throw HTTPTransportError(.broken, "not used") }
  }

  @Test("that is suspended while its digest is computed stays suspended", .timeLimit(.minutes(2)))
  func suspendedAtTheDigest() async throws {
    let content = TransferFixture.content(1000)
    try await TransferFixture.with { fixture in
      let (journal, output) = (fixture.journal, fixture.output.path)
      let number = try fixture.download { $0.sha256 = SHA256.hash(data: content).hexadecimal }
      let part = fixture.folder.appending(path: ".output.bin.\(number).part")
      Thread.detachNewThread {
        var information = stat()
        for _ in 0..<6000 {
          if stat(part.path, &information) == 0, information.st_mode & S_IFMT == S_IFIFO { break }
          usleep(10_000)
        }
        // The pipe opens when the worker reads it.
        let pipe = open(part.path, O_WRONLY | O_CLOEXEC)
        try? journal.suspend(number)
        _ = content.withUnsafeBytes { write(pipe, $0.baseAddress, $0.count) }
        close(pipe)
      }
      try await fixture.working(transport: Piping(file: part, content: content)) {
        try await eventually("it has its name") { FileManager.default.fileExists(atPath: output) }
      }
      #expect(try journal.transfer(number)?.state == .suspended)
    }
  }

  @Test(
    "begins again if the part is not the requested one, or longer than declared", arguments: [0, 1])
  func wrongPart(number: Int) async throws {
    let content = TransferFixture.content(300_000)
    try await TransferFixture.with(content) { fixture in
      // A server that sends no digest. It truncates the response until the client has sent a range request.
      let hasContinued = Mutex(false)
      fixture.modify { response, request, _ in
        var response = response.removing("Repr-Digest")
        guard request["Range"] != nil else {
          return hasContinued.withLock(\.self) ? response : response.truncated(at: .body(100_000))
        }
        hasContinued.withLock { $0 = true }
        if number == 1 {
          response.body.append(0)
          return response.framed(.chunked)
        }
        response = response.setting("Content-Range", "bytes 0-199999/300000")
        response.body = content.prefix(200_000)
        return response
      }
      try await fixture.working {
        let transfer = try await fixture.end(of: fixture.download())
        #expect(transfer.state == .finished)
        #expect(try Data(contentsOf: fixture.output) == content)
        #expect(fixture.server.requests.map { $0["Range"] != nil }.suffix(2) == [true, false])
        #expect(fixture.server.requests.count { $0["Range"] != nil } == 1)
      }
    }
  }
}
