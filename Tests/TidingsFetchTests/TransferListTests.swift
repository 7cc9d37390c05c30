import FaultServer
import Foundation
import HTTPTransfer
import TestKit
import TestSupport
import Testing

@Suite("The transfers of tidings-fetch") struct TransferListTests {
  @Test(
    "wait for no condition while they are paused",
    arguments: [
      (.power, "waits for external power"), (.network, "waits for an unmetered network"),
    ] as [(Transfer.Obstacle, String)])
  func paused(obstacle: Transfer.Obstacle, status: String) async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let (journal, clock) = (try TransferJournal(store: command.folder), ManualClock())
      let url = try #require(URL(string: "http://127.0.0.1:1/x"))
      var request = TransferRequest(download: url, to: command.folder.appending(path: "x"))
      request.isDiscretionary = true
      let number = try journal.add(request).number
      try journal.resume(number, at: clock.now)
      let worker = try TransferWorker(
        store: command.folder, userAgent: "tests/1", obstacles: { [obstacle] }, clock: clock)
      let task = Task { try await worker.run() }
      try await eventually("it waits") { try journal.transfer(number)?.obstacle == obstacle }
      #expect(try await command.run("transfers").output == "1  \(status)  0 B  x\n")
      #expect(try await command.run("transfers", "--json").output.contains(#""waitsFor":"\#(obstacle.rawValue)""#))
      try journal.suspend(number)
      task.cancel()
      _ = try await task.value
      #expect(try journal.transfer(number)?.obstacle == obstacle)
      #expect(try await command.run("transfers").output == "1  suspended  0 B  x\n")
      #expect(try await command.run("transfers", "--json").output.contains("waitsFor") == false)
    }
  }

  @Test("are no success for a command that waits for one which is cancelled meanwhile")
  func cancelled() async throws {
    try await FaultServer.with({ _ in FaultResponse(body: Data("x".utf8)).hanging(at: .start) }) { server in
      try await Command.with(server: server.url) { command in
        let output = command.folder.appending(path: "x").path
        let process = try command.start(["download", server.url + "/x", "--output", output, "--wait", "--json"])
        try await eventually("it is under way") { server.requests.count == 1 }
        #expect(try await command.run("transfers", "cancel", "1").status == 0)
        let result = await process.result()
        #expect(result.status == 20)
        #expect(result.output.contains(#""state":"cancelled""#), "\(result.output)")
      }
    }
  }

  @Test("are paused by their numbers, and resumed, for which a worker is started")
  func resumed() async throws {
    let response = FaultResponse(body: Data("x".utf8))
    try await FaultServer.with({ _ in response }) { server in
      server.respond(next: response.hanging(at: .start))
      try await Command.with(server: server.url) { command in
        let output = command.folder.appending(path: "x y").path
        #expect(try await command.run("download", server.url + "/x", "--output", output).status == 0)
        try await eventually("it is under way") { server.requests.count == 1 }
        #expect(try await command.run("transfers", "pause", "1").status == 0)
        let lock = FetchLock(path: command.folder.appending(path: "transfers/worker.lock").path)
        try await eventually("the worker has ended") { lock.holder == nil }
        #expect(try await command.run("transfers").output == "1  suspended  0 B  x y\n")
        let start = #"{"completed":0,"direction":"download","file":"\#(output)","number":1,"#
        let end = #""state":"suspended","url":"\#(server.url)/x"}"#
        #expect(try await command.run("transfers", "--json").output == start + end + "\n")
        #expect(try await command.run("transfers", "resume", "1").status == 0)
        try await eventually("it is complete") { FileManager.default.fileExists(atPath: output) }
        #expect(server.requests.count == 2)
      }
    }
  }

  @Test("of a session, which have no file, are listed by their addresses")
  func addresses() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let url = try #require(URL(string: "http://127.0.0.1:1/x"))
      _ = try TransferJournal(store: command.folder).add(TransferRequest(download: url), session: "media")
      #expect(try await command.run("transfers").output == "1  suspended  0 B  http://127.0.0.1:1/x\n")
    }
  }

  @Test("of a file to a server have the method, the type and the conditions that the options name")
  func uploadOptions() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 201) }) { server in
      try await Command.with(server: server.url) { command in
        for flags in [[], ["--method", "PUT", "--type", "image/png", "--unmetered"], ["--discretionary"]] {
          let result = try await command.start(["upload", "/etc/hostname", server.url + "/u"] + flags).result()
          #expect(result.status == 0, "\(result.errors)")
        }
        let requests = try TransferJournal(store: command.folder).transfers().map(\.request)
        #expect(requests.map(\.method) == ["POST", "PUT", "POST"])
        let type = "application/octet-stream"
        #expect(requests.map(\.mediaType) == [type, "image/png", type])
        #expect(requests.map(\.allowsMeteredNetwork) == [true, false, true])
        #expect(requests.map(\.isDiscretionary) == [false, false, true])
      }
    }
  }

  @Test("have the conditions, the type and the digest that the options name")
  func options() async throws {
    let content = Data("x".utf8)
    try await FaultServer.with({ _ in FaultResponse(body: content) }) { server in
      try await Command.with(server: server.url) { command in
        for (number, flags) in [[], ["--unmetered"], ["--discretionary"], ["--type", "image/jpeg"]].enumerated() {
          let output = command.folder.appending(path: "\(number)").path
          let words = ["download", server.url + "/x", "--output", output] + flags
          #expect(try await command.start(words).result().status == 0)
        }
        let requests = try TransferJournal(store: command.folder).transfers().map(\.request)
        #expect(requests.map(\.allowsMeteredNetwork) == [true, false, true, true])
        #expect(requests.map(\.isDiscretionary) == [false, false, true, false])
        #expect(requests.map(\.mediaType) == [nil, nil, nil, "image/jpeg"])
        let digest = content.sha256.uppercased()
        let whole = try await command.run(
          "download", server.url + "/x", "--output", command.folder.appending(path: "y").path, "--sha256", digest,
          "--wait")
        #expect(whole.status == 0 && whole.errors == "", "\(whole.errors)")
        let required = try TransferJournal(store: command.folder).transfers().last?.request.sha256
        #expect(required == content.sha256)
      }
    }
  }

  @Test("are waited for as long as data arrive, however long that takes", .timeLimit(.minutes(3)))
  func slow() async throws {
    // It takes 15 seconds.
    let response = FaultResponse(body: Data(count: 600_000)).dripping(bytes: 10_000, every: .milliseconds(250))
    try await FaultServer.with({ _ in response }) { server in
      try await Command.with(server: server.url) { command in
        let output = command.folder.appending(path: "x").path
        let result = try await command.run(
          "download", server.url + "/x", "--output", output, "--wait", "--timeout", "10")
        #expect(result.status == 0, "\(result.errors)")
      }
    }
  }

  /// Checks that the percentages and the bars of 24 columns in lines show the number of bytes.
  private static func checkShares(_ lines: [String]) throws {
    var count = 0
    for line in lines {
      guard let match = line.firstMatch(of: /([0-9]+)%  1  running  ([0-9.]+) KiB of 390\.6 KiB/) else { continue }
      let (percentage, kibibytes) = (try #require(Int(match.1)), try #require(Double(match.2)))
      // The number is rounded to a tenth.
      #expect(abs(Double(percentage) - (kibibytes / 390.625 * 100).rounded(.down)) <= 1, "\(line)")
      let full = line.count { $0 == "█" }
      #expect(full + line.count { $0 == "░" } == 24, "\(line)")
      #expect(abs(Double(full) - (kibibytes / 390.625 * 24).rounded(.down)) <= 1, "\(line)")
      count += 1
    }
    #expect(count > 0, "\(lines)")
  }

  @Test(
    "show neither a negative rate nor a remaining time while nothing arrives, and no bar while they wait",
    .enabled(if: program("script") != nil), .timeLimit(.minutes(3)))
  func stalled() async throws {
    // The file has no tag, so the last attempt begins again. None of its bytes arrives.
    let response = FaultResponse(body: Data(count: 400_000))
    try await FaultServer.with({ _ in response }) { server in
      server.respond(
        next: response.dripping(bytes: 10_000, every: .milliseconds(50)).hanging(at: .body(200_000)),
        FaultResponse(status: 503, headers: [("Retry-After", "2")]), response.hanging(at: .body(0)))
      try await Command.with(server: server.url) { command in
        let (output, screen) = (command.folder.appending(path: "x.bin"), command.home.appending(path: "screen"))
        try FileManager.default.createDirectory(at: command.home, withIntermediateDirectories: true)
        let words = [
          ChildProcess.tidings + "-fetch", "--server", server.url, "--store", command.folder.path, "download",
          server.url + "/f", "--output", output.path, "--wait",
        ]
        let process = try ChildProcess(
          ["-qefc", "stty cols 200; " + words.joined(separator: " "), screen.path],
          executable: try #require(program("script")), environment: ["PATH": "/usr/bin:/bin", "TERM": "xterm"])
        func drawn(_ part: String = "B/s") -> [String] {
          let text = String(decoding: (try? Data(contentsOf: screen)) ?? Data(), as: UTF8.self)
          return text.split(whereSeparator: \.isNewline).map(String.init).filter { $0.contains(part) }
        }
        // Only after five seconds the rate does not include the first bytes.
        try await eventually("the first attempt stalls") {
          drawn().contains { $0.contains(/running  [0-9.]+ KiB of .*  0 B\/s/) }
        }
        await server.closeConnections()
        try await eventually("the last attempt stalls") {
          server.requests.count == 3 && drawn().last?.contains("running  0 B of ") == true
        }
        server.release()
        #expect(await process.result().status == 0)
        let lines = drawn()
        #expect(lines.allSatisfy { !$0.contains(/-[0-9.]+ [KMG]?i?B\/s/) }, "\(lines)")
        #expect(lines.allSatisfy { !$0.contains("  0 B/s") || !$0.contains(" left") }, "\(lines)")
        #expect(lines.contains { $0.contains(/[KM]iB\/s  [0-9]+ (s|min) left/) }, "\(lines)")
        let waiting = drawn("tries again in")
        #expect(!waiting.isEmpty && waiting.allSatisfy { !$0.contains("%") }, "\(waiting)")
        try Self.checkShares(lines)
      }
    }
  }
}
