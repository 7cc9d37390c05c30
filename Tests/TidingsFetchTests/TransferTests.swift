import FaultServer
import Foundation
import HTTPTransfer
import MediaFiles
import News
import NewsAPI
import NewsClient
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite("A transfer by a worker") struct TransferTests {
  /// The number of random times at which the worker is killed.
  private static let moments = thoroughly ?? 10
  private static let thoroughly = ProcessInfo.processInfo.environment["TIDINGS_CRASHES"].flatMap { Int($0) }

  /// A line of `tidings-fetch transfers --json`.
  private struct Line: Decodable {
    var number: Int64
    var state: String
    var completed: Int64
    var location: String?
  }

  /// Runs the body with a server of a file, slow enough to interrupt a transfer.
  ///
  /// - Parameter pace: The maximum number of bytes that the server sends every 2 ms.
  private func serving(
    _ content: Data, pace: Int = 200_000, _ body: (FaultServer) async throws -> Void
  ) async throws {
    try await FaultServer.with(
      { request in
        var first = 0
        if let range = request["Range"], let match = range.wholeMatch(of: /bytes=([0-9]+)-/) {
          first = Int(match.1) ?? 0
        }
        let response = FaultResponse(
          status: first > 0 ? 206 : 200,
          headers: [("ETag", "\"one\""), ("Content-Range", "bytes \(first)-\(content.count - 1)/\(content.count)")],
          body: content.dropFirst(first))
        return response.dripping(bytes: pace, every: .milliseconds(2))
      }, body)
  }

  private func transfers(_ command: Command) async throws -> [Line] {
    let result = try await command.run("transfers", "--json")
    return try result.output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
  }

  /// Returns the process id of the store's worker, once a worker is running.
  private func worker(_ command: Command) async throws -> Int32 {
    var found: Int32?
    try await eventually("there is a worker") {
      // The lock file may contain the process id of a dead worker.
      let text = try? String(contentsOf: command.folder.appending(path: "transfers/worker.lock"), encoding: .utf8)
      found = text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
      return found.map { kill($0, 0) == 0 } ?? false
    }
    return try #require(found)
  }

  @Test("finishes although the app that started it is killed")
  func appKilled() async throws {
    let content = Data((0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
    try await serving(content, pace: 10_000) { server in
      try await Command.with(server: server.url) { command in
        let output = command.folder.appending(path: "out.bin")
        let app = try command.start(["download", server.url + "/file", "--output", output.path, "--wait"])
        try await eventually("it has begun") { !server.requests.isEmpty }
        app.send(SIGKILL)
        #expect(await app.result().status == -SIGKILL)
        try await eventually("it is whole") { FileManager.default.fileExists(atPath: output.path) }
        #expect(try Data(contentsOf: output) == content)
      }
    }
  }

  @Test("continues after its worker was killed at any moment, and fetches few bytes twice")
  func workerKilled() async throws {
    var random = SplitMix64(seed: 11)
    let content = SampleMedia.png(bytes: Self.thoroughly == nil ? 50_000_000 : 200_000_000)
    let digest = content.sha256
    try await serving(content) { server in
      for _ in 0..<Self.moments {
        let pause = Int.random(in: 0...content.count / 100_000, using: &random)
        try await Command.with(server: server.url) { command in
          let output = command.folder.appending(path: "out.bin")
          let words = ["download", server.url + "/file", "--output", output.path, "--sha256", digest]
          #expect(try await command.start(words).result().status == 0)
          let worker = try await worker(command)
          try await Task.sleep(for: .milliseconds(pause))
          kill(worker, SIGKILL)
          try await eventually("it is dead") { kill(worker, 0) != 0 }
          // The next command detects the dead worker and starts another one.
          _ = try await transfers(command)
          try await eventually("it is whole") { FileManager.default.fileExists(atPath: output.path) }
          #expect(try Data(contentsOf: output) == content)
          try await eventually("it is noted") { try await transfers(command).map(\.state) == ["finished"] }
        }
      }
      // Only the bytes in transit at each kill are sent again: up to 10 MB in the buffers of both sockets on a busy
      // machine. A worker that started over would fetch half of the file twice.
      #expect(server.bytesWritten < (content.count + 10_000_000) * Self.moments)
    }
  }

  @Test("uploads a file once and completely, and downloads it, although the worker is killed repeatedly")
  func thereAndBack() async throws {
    let content = SampleMedia.png(bytes: Self.thoroughly == nil ? 40_000_000 : 200_000_000)
    try await withMediaFolder { folder in
      let storage = try MediaDirectory(folder)
      try await TestServer.with(settings: { $0.media = storage }) { server in
        let key = try await server.store.createKey(name: "desk", permissions: [.mediaWrite])
        try await Command.with(server: server.url) { command in
          let file = command.folder.appending(path: "cover.png")
          try FileManager.default.createDirectory(at: command.folder, withIntermediateDirectories: true)
          try content.write(to: file)
          let words = ["upload", file.path, server.url + "/v1/editorial/media", "--type", "image/png"]
          #expect(try await command.start(words + ["--header", "Authorization: Bearer \(key)"]).result().status == 0)
          try await killing(command, pauses: (0..<10).map { $0 * 15 })
          try await eventually("it has arrived") { try await transfers(command).first?.state == "finished" }
          #expect(try await server.sql.query("SELECT id FROM media").count == 1)
          #expect(try names(in: folder).filter { !$0.hasPrefix("upload-") } == [content.sha256])

          let location = try #require(try await transfers(command).first?.location)
          // Readers receive only the files of published items.
          let cover = Attachment(url: location, type: "image/png")
          _ = try await server.store.create(
            UUID(), ItemContent(state: .published, date: nil, text: "x", attachments: [cover]))
          let copy = command.folder.appending(path: "copy.png")
          let download = ["download", server.url + location, "--output", copy.path, "--type", "image/png"]
          #expect(try await command.start(download).result().status == 0)
          try await killing(command, pauses: [10, 30, 50])
          try await eventually("it is back") { FileManager.default.fileExists(atPath: copy.path) }
          #expect(try Data(contentsOf: copy) == content)
        }
      }
    }
  }

  /// Kills the workers one by one, each at a pause in milliseconds after it has come further than the last one. Two crashes at
  /// the same byte would end the transfer. The last worker survives.
  private func killing(_ command: Command, pauses: [Int]) async throws {
    let journal = try TransferJournal(store: command.folder)
    func current() throws -> Transfer { try #require(try journal.transfers().last) }
    var last: Int64 = -1
    for pause in pauses {
      try await eventually("it has come further") { try current().state != .running || current().completed > last }
      try await Task.sleep(for: .milliseconds(pause))
      guard try current().state == .running else { return }
      let worker = try await worker(command)
      kill(worker, SIGKILL)
      try await eventually("it is dead") { kill(worker, 0) != 0 }
      last = try current().completed
      _ = try await transfers(command)
    }
  }

  @Test("is visible to other processes, whichever of them closes the journal first")
  func locks() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let journal = try TransferJournal(store: command.folder)
      // Opening and closing the file again in this process could release the locks of the first journal.
      for number in 1...3 {
        _ = try TransferJournal(store: command.folder)
        #expect(try await transfers(command).count == number - 1)
        let url = try #require(URL(string: "http://127.0.0.1:1/\(number)"))
        #expect(try journal.add(TransferRequest(download: url)).number == number)
        #expect(try await transfers(command).count == number)
      }
    }
  }

  @Test("prints its result, and the reason of a failure")
  func printing() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 404) }) { server in
      try await Command.with(server: server.url) { command in
        let path = command.folder.appending(path: "out.bin").path
        let missing = try await command.run("download", server.url, "--output", path, "--wait", "--json")
        #expect(missing.status == 20)
        #expect(missing.output.contains(#""failure":"the server responded with 404""#))
        #expect(try await command.run("transfers").output == "1  failed  0 B  out.bin: the server responded with 404\n")
        for words in [
          ["download", "ftp://127.0.0.1/", "--output", path], ["download", "http://me@127.0.0.1/", "--output", path],
          ["download", server.url, "--output", path, "--sha256", "12"],
          ["download", server.url, "--output", path, "--sha256", String(repeating: "a", count: 65)],
          ["download", server.url, "--output", path, "--sha256", String(repeating: "g", count: 64)],
          ["download", server.url, "--output", path, "--timeout", "0"],
          ["download", server.url, "--output", path, "--timeout", "inf"],
          ["upload", path, server.url],
          ["upload", "/etc/hostname", server.url, "--header", "No colon"],
          ["upload", "/etc/hostname", server.url, "--header-file", path],
          ["upload", "/etc/hostname", server.url, "--method", "GET"],
        ] {
          let result = try await command.start(words).result()
          #expect(result.status == 64, "\(words)")
          #expect(result.errors.hasPrefix("Error: "), "\(result.errors)")
        }
        for action in ["pause", "resume", "cancel"] {
          let unknown = try await command.run("transfers", action, "7")
          #expect(unknown.status == 20)
          #expect(unknown.errors == "tidings-fetch: there is no transfer 7; tidings-fetch transfers lists them\n")
        }
      }
    }
  }
}
