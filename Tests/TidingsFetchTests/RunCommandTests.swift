import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite("tidings-fetch run") struct RunCommandTests {
  @Test("fetches by the schedule, tells observers in another process within a second, and ends with a signal")
  func observers() async throws {
    let feed = FaultFeed()
    feed.publish("one")
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.fetch().status == 0)
        #expect(try await command.run("schedule", "set", "minimum").status == 0)
        let other = try NewsFetcher(
          .init(
            folder: command.folder, feed: FollowedFeed(server: try #require(URL(string: server.url))), userAgent: "app"),
          application: ApplicationLifecycle(launchReason: .user))
        let heard = Mutex<[[String]]>([])
        let observation = other.changes.add { changes in heard.withLock { $0.append(changes.inserted.map(\.text)) } }
        let observing = Task { await other.observeOtherProcesses() }
        func end(_ task: Task<Void, Never>) async {
          task.cancel()
          await task.value
        }
        try await withResource(observing, release: end) { _ in
          feed.publish("two")
          #expect(try await command.fetch().report?.inserted == 1)
          // The fetch has stored its items before its process ended.
          let start = ContinuousClock.now
          try await eventually("observers have heard of it") { heard.withLock { $0 } == [["two"]] }
          #expect(ContinuousClock.now - start < .seconds(30), "the watch of the folder works, even on a busy machine")
          let process = try command.start(["run", "--json"])
          let lock = FetchLock(path: command.folder.appending(path: "app.lock").path)
          try await eventually("it runs") { try lock.isHeld }
          feed.publish("three")
          let push = #"{"aps":{"content-available":1},"token":"\#(feed.token())"}"#
          let sender = try command.start(
            ["push", "receive"], wrapper: ["/bin/sh", "-c", #"printf %s "$0" | "$@""#, push])
          #expect(await sender.result().status == 0)
          try await eventually("observers have heard of it") { heard.withLock { $0 } == [["two"], ["three"]] }
          process.send(SIGTERM)
          let result = await process.result()
          #expect(result.status == 0)
          #expect(result.output.contains(#""inserted":1"#), "\(result.output) \(result.errors)")
        }
        withExtendedLifetime(observation) {}
      }
    }
  }

  @Test("says that background fetch is off")
  func never() async throws {
    let feed = FaultFeed()
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        let process = try command.start(["run"])
        for await line in process.errorLines where line.contains("background fetch is off") { break }
        process.send(SIGTERM)
        #expect(await process.result().status == 0)
        #expect(server.requests.isEmpty)
      }
    }
  }

  @Test("continues transfers that had to wait")
  func transfers() async throws {
    try await FaultServer.with({ _ in FaultResponse(body: Data("x".utf8)) }) { server in
      try await Command.with(server: server.url) { command in
        let journal = try TransferJournal(store: command.folder)
        let url = try #require(URL(string: server.url + "/x"))
        let request = TransferRequest(download: url, to: command.folder.appending(path: "x"))
        try journal.resume(try journal.add(request).number)
        let process = try command.start(["run"])
        try await eventually("it is complete") { try journal.transfer(1)?.state == .finished }
        process.send(SIGTERM)
        #expect(await process.result().status == 0)
      }
    }
  }

  @Test("does not run for a minute while nothing happens", .timeLimit(.minutes(5)))
  func idle() async throws {
    let feed = FaultFeed()
    feed.publish("one")
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.run("schedule", "set", "minimum").status == 0)
        let process = try command.start(["run", "--json"])
        try await eventually("it has fetched") { try command.storedItems().count == 1 }
        // The connections and the threads of the fetch end within seconds.
        var before = try Self.switches(process.id)
        try await eventually("it sleeps") {
          try await Task.sleep(for: .seconds(3))
          let last = before
          before = try Self.switches(process.id)
          return Self.awakenings(from: last, to: before) == 0
        }
        let descriptors = try Self.descriptors(process.id)
        try await Task.sleep(for: .seconds(60))
        // A wake of the processor is a few switches: a thread runs, wakes another one, and sleeps again.
        let count = Self.awakenings(from: before, to: try Self.switches(process.id))
        #expect(count <= 12, "\(count) context switches in a minute")
        #expect(try Self.descriptors(process.id) <= descriptors)
        process.send(SIGTERM)
        #expect(await process.result().status == 0)
      }
    }
  }

  /// Returns how often each thread of a process has gone to sleep (proc_pid_status(5)).
  private static func switches(_ process: Int32) throws -> [String: Int] {
    let folder = "/proc/\(process)/task"
    let threads = try FileManager.default.contentsOfDirectory(atPath: folder)
    return Dictionary(
      uniqueKeysWithValues: threads.map { thread in
        let status = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
        return (thread, line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
      })
  }

  /// Returns how often threads have gone to sleep, without the manager thread of libdispatch.
  ///
  /// On Linux, that thread counts the runnable threads of the pool once a second, from the first task of the process on.
  /// The timer has no setting and is never cancelled (`_dispatch_workq_init_once` in src/event/workqueue.c of
  /// swift-corelibs-libdispatch). Only a process without Swift tasks and dispatch queues would not have it.
  private static func awakenings(from before: [String: Int], to after: [String: Int]) -> Int {
    let counts = after.map { $0.value - before[$0.key, default: 0] }
    return counts.reduce(0, +) - (counts.max() ?? 0)
  }

  private static func descriptors(_ process: Int32) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
  }
}
