import FaultServer
import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite("A transfer and stopped or killed processes") struct TransferSuspensionTests {
  private static let content = Data((0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

  /// Runs the body with a server of a file that sends half of it and waits for its release. It serves range requests.
  private func serving(_ body: (FaultServer) async throws -> Void) async throws {
    try await FaultServer.with(
      { request in
        let content = Self.content
        let first = request["Range"]?.wholeMatch(of: /bytes=([0-9]+)-/).flatMap { Int($0.1) } ?? 0
        let response = FaultResponse(
          status: first > 0 ? 206 : 200,
          headers: [("ETag", "\"one\""), ("Content-Range", "bytes \(first)-\(content.count - 1)/\(content.count)")],
          body: content.dropFirst(first))
        return first > 0 ? response : response.hanging(at: .body(content.count / 2))
      }, body)
  }

  /// Waits until a process has stopped.
  private func stop(_ process: Int32) async throws {
    kill(process, SIGSTOP)
    try await eventually("it has stopped") {
      // The third field of the line is the state (proc_pid_stat(5)).
      let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      return line?.split(separator: ")").last?.split(separator: " ").first == "T"
    }
  }

  private func worker(_ command: Command) async throws -> Int32 {
    let lock = FetchLock(path: command.folder.appending(path: "transfers/worker.lock").path)
    try await eventually("there is a worker") { lock.holder != nil }
    return try #require(lock.holder)
  }

  private func half(_ command: Command) async throws {
    let part = command.folder.appending(path: ".out.bin.1.part")
    try await eventually("half is here") { (try? Data(contentsOf: part))?.count == Self.content.count / 2 }
  }

  @Test("is completed when its process is stopped in mid-body and continued, with each byte requested once")
  func worker() async throws {
    try await serving { server in
      try await Command.with(server: server.url) { command in
        let output = command.folder.appending(path: "out.bin")
        #expect(try await command.run("download", server.url + "/f", "--output", output.path).status == 0)
        try await half(command)
        let worker = try await worker(command)
        try await stop(worker)
        let written = server.bytesWritten
        server.release()
        // The kernel buffers a part of the rest; the process writes none of it.
        try await eventually("the server sends again") { server.bytesWritten > written }
        #expect(!FileManager.default.fileExists(atPath: output.path))
        kill(worker, SIGCONT)
        try await eventually("it is whole") { FileManager.default.fileExists(atPath: output.path) }
        #expect(try Data(contentsOf: output) == Self.content)
        #expect(server.requests.count == 1)
      }
    }
  }

  @Test("is resumed if its process was stopped until the server had closed the connection")
  func closed() async throws {
    try await serving { server in
      try await Command.with(server: server.url) { command in
        let output = command.folder.appending(path: "out.bin")
        #expect(try await command.run("download", server.url + "/f", "--output", output.path).status == 0)
        try await half(command)
        let worker = try await worker(command)
        try await stop(worker)
        await server.closeConnections()
        kill(worker, SIGCONT)
        try await eventually("it is whole") { FileManager.default.fileExists(atPath: output.path) }
        #expect(try Data(contentsOf: output) == Self.content)
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=2000000-"])
      }
    }
  }

  @Test("is completed while the app is stopped, which receives the end when it continues")
  func app() async throws {
    try await serving { server in
      try await Command.with(server: server.url) { command in
        let output = command.folder.appending(path: "out.bin")
        let app = try command.start(["download", server.url + "/f", "--output", output.path, "--wait", "--json"])
        try await half(command)
        try await stop(app.id)
        server.release()
        try await eventually("it is whole") { FileManager.default.fileExists(atPath: output.path) }
        app.send(SIGCONT)
        let result = await app.result()
        #expect(result.status == 0)
        #expect(result.output.contains(#""state":"finished""#))
        #expect(try Data(contentsOf: output) == Self.content)
      }
    }
  }

  @Test(
    "is on disk before it has its name, and its folder afterwards", .enabled(if: program("strace") != nil),
    .timeLimit(.minutes(3)))
  func synchronized() async throws {
    try await FaultServer.with({ _ in FaultResponse(body: Data("x".utf8)) }) { server in
      try await Command.with(server: server.url) { command in
        let strace = try #require(program("strace"))
        let trace = command.folder.appendingPathExtension("trace")
        defer { try? FileManager.default.removeItem(at: trace) }
        let folder = command.folder.appending(path: "films")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let download = try command.start(
          ["download", server.url + "/x", "--output", folder.appending(path: "out.bin").path, "--wait"],
          wrapper: [
            strace, "-f", "-qq", "-y", "-o", trace.path, "-e", "signal=none",
            "-e", "trace=fsync,?rename,?renameat,?renameat2",
          ])
        #expect(await download.result().status == 0)
        let text = try String(contentsOf: trace, encoding: .utf8)
        let calls = text.split(separator: "\n").compactMap { line -> String? in
          // The end of a call that another one has interrupted has no parenthesis after the name.
          guard line.contains("fsync(") else { return line.contains("/films/.out.bin.1.part\"") ? "name" : nil }
          return line.contains("/films/.out.bin.1.part>") ? "file" : line.contains("/films>") ? "folder" : nil
        }
        #expect(calls == ["file", "name", "folder"])
      }
    }
  }

  @Test("launches its app at most once more, and never again, if its process is killed at the launch")
  func killedAtLaunch() async throws {
    try await FaultServer.with({ _ in FaultResponse(body: Data("x".utf8)) }) { server in
      try await Command.with(server: server.url) { command in
        let folder = command.folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let launches = folder.appending(path: "launches")
        let app = folder.appending(path: "app")
        // The first launch kills the process that has launched it.
        try """
        #!/bin/sh
        [ -e "$TIDINGS_STORE/launches" ] || kill -9 $PPID
        echo "$TIDINGS_LAUNCH_REASON $TIDINGS_LAUNCH_SESSION" >> "$TIDINGS_STORE/launches"
        """.write(to: app, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: app.path)
        #expect(try await command.run("app", "set", app.path).status == 0)
        let journal = try TransferJournal(store: folder)
        let url = try #require(URL(string: server.url + "/x"))
        try journal.resume(try journal.add(TransferRequest(download: url), session: "media").number)
        func lines() -> [String] {
          let text = try? String(contentsOf: launches, encoding: .utf8)
          return text?.split(separator: "\n").map(String.init) ?? []
        }
        // Each command stands for a tick of the timer.
        _ = try await command.run("transfers")
        try await eventually("the app is launched") { lines().count == 1 }
        let lock = FetchLock(path: folder.appending(path: "transfers/worker.lock").path)
        try await eventually("its process is dead") { lock.holder == nil }
        // The kill comes before or after the record of the launch. Without the record, the next process launches the app.
        let isRepeated = try TransferJournal.needsWorker(store: folder)
        for _ in 0..<3 {
          _ = try await command.run("transfers")
          try await eventually("the next process has nothing left to do") {
            try lock.holder == nil && !TransferJournal.needsWorker(store: folder)
          }
        }
        try await eventually("all launches are written") { lines().count == (isRepeated ? 2 : 1) }
        #expect(Set(lines()) == ["transfer media"])
      }
    }
  }
}
