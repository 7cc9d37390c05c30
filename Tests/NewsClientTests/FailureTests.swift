import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("A failed fetch") struct FailureTests {
  @Test("is reported as failed with its reason, whatever the previous result was")
  func brokenLock() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      #expect(await client.performFetch().inserted == 1)
      try FileManager.default.removeItem(at: installation.folder)
      try Data().write(to: installation.folder)
      let report = await client.performFetch()
      #expect(report.result == .failed)
      #expect(report.inserted == 0)
      #expect(report.error?.contains("fetch.lock: Not a directory") == true)
    }
  }

  @Test("makes the follower wait before it tries again")
  func watch() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      let reports = Reports()
      let watch = Task { await client.watch { reports.add($0) } }
      try await eventually("it listens") { installation.feed.eventStreams == 1 }
      #expect(reports.all.map(\.result) == [.newData])
      try FileManager.default.removeItem(at: installation.folder)
      try Data().write(to: installation.folder)
      installation.feed.publish("two")
      try await eventually("the failure is reported") { reports.all.count > 1 }
      try await eventually("it waits") { !installation.clock.sleeping.isEmpty }
      for _ in 0..<100 { await Task.yield() }
      #expect(reports.all.map(\.result) == [.newData, .failed])
      watch.cancel()
      await watch.value
    }
  }

  @Test("does not occur after the store was deleted: all items are fetched again")
  func removedStore() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      await client.performFetch()
      try FileManager.default.removeItem(at: installation.folder)
      #expect(await client.performFetch().inserted == 1)
      #expect(await client.performFetch().result == .noData)
      try installation.expectEqual(client)
    }
  }

  @Test("ends after a minute in the foreground without a response, also for callers that joined it")
  func foregroundTimeout() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let client = try installation.client()
      await client.application.enterForeground()
      installation.feed.fault(next: .hang(at: .start))
      async let launch = client.performFetch(.launch)
      try await eventually("the request has come") { installation.server.requests.count == 1 }
      try await eventually("the timer sleeps") { installation.clock.sleeping == [60] }
      installation.clock.advance(by: 20)
      async let manual = client.performFetch(.manual)
      try await eventually("it has joined") { client.waitingCallers == 2 }
      installation.clock.advance(by: 40)
      let reports = await [launch, manual]
      #expect(reports.map(\.result) == [.failed, .failed])
      #expect(reports[0].error == "the fetch did not end within 60 s")
      #expect(try client.schedule.failures == 1)
      installation.server.release()
      try await eventually("the next one succeeds") { await client.performFetch().result == .newData }
    }
  }

  @Test("contains the server's explanation without control characters")
  func explanation() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      func error(_ problem: Problem) async -> String? {
        installation.feed.fault(next: .response(.problem(problem)))
        return await client.performFetch().error
      }
      let rule = "must be existing topics; not found: harbor\u{1B}[2J\u{202E}"
      var problem = Problem(
        type: "/problems/invalid-parameters", title: "Invalid parameters", status: 400, detail: "See errors.",
        errors: [FieldError(field: "topics", rule: rule)])
      #expect(
        await error(problem) == "the server responded with 400: topics must be existing topics; not found: harbor[2J")
      problem.errors = (1...6).map { FieldError(field: "f\($0)", rule: "is bad") }
      let explained = (1...5).map { "f\($0) is bad" }.joined(separator: "; ")
      #expect(await error(problem) == "the server responded with 400: \(explained)")
      problem.errors = nil
      #expect(await error(problem) == "the server responded with 400: See errors.")
      problem.detail = nil
      #expect(await error(problem) == "the server responded with 400: Invalid parameters")
      problem.detail = String(repeating: "x", count: 100_000)
      let text = String(repeating: "x", count: 500)
      #expect(await error(problem) == "the server responded with 400: \(text)…")
      problem.detail = text
      #expect(await error(problem) == "the server responded with 400: \(text)")
    }
  }

  @Test("without a connection has no requests, and is offline only without a network")
  func unsent() async throws {
    try await Installation.with { installation in
      let cases: [(kind: HTTPTransportError.Kind, isOffline: Bool, requests: Int)] = [
        (.offline, true, 0), (.refused, false, 0), (.untrusted, false, 0), (.broken, false, 1),
      ]
      for (kind, isOffline, requests) in cases {
        let client = try installation.client(FailingTransport(error: HTTPTransportError(kind, "it failed")))
        try client.updateSchedule { schedule in
          schedule.signOut()
          schedule.setInterval(.duration(.seconds(7200)))
        }
        let report = await client.performFetch(.scheduled)
        #expect(report.error?.hasSuffix("it failed") == true)
        #expect(report.requests == requests, "\(kind)")
        #expect((report.bytes > 0) == (requests > 0), "\(kind)")
        let run = try #require(try client.runs(limit: 1).first)
        #expect(run.isOffline == isOffline, "\(kind)")
        #expect(try client.schedule.failures == (isOffline ? 0 : 1), "\(kind)")
      }
    }
  }

  @Test("names a server that refuses connections")
  func refused() async throws {
    try await Installation.with { installation in
      var other = installation
      other.address = "http://127.0.0.1:1"
      let report = try await other.client().performFetch()
      #expect(report.error == "no response from 127.0.0.1:1: connection refused")
      #expect((report.requests, report.bytes) == (0, 0))
      #expect(try other.client().runs(limit: 2).map(\.isOffline) == [false])
    }
  }

  @Test("without a network does not use up the wake")
  func offlineWake() async throws {
    try await Installation.with { installation in
      installation.feed.publish("one")
      let dead = try installation.client(FailingTransport(error: HTTPTransportError(.offline, "no network")))
      try dead.updateSchedule { $0.setInterval(.duration(.seconds(7200))) }
      installation.clock.advance(by: 7200)
      #expect(await dead.performFetch(.scheduled).result == .failed)
      installation.clock.advance(by: 120)
      let client = try installation.client()
      guard case .wake = try client.decision() else {
        Issue.record("the wake is spent")
        return
      }
      let offline = try installation.client(constraints: FetchConstraints(isOffline: true))
      #expect(try offline.decision() == .wait(until: installation.clock.now.date + 120, .offline))
      #expect(await client.performFetch(.scheduled).inserted == 1)
    }
  }

  @Test("is noticed by a timer, which makes up for the wake after the delay of the install")
  func offlineTimer() async throws {
    try await Installation.with { installation in
      let clock = installation.clock
      try installation.client().updateSchedule { $0.setInterval(.duration(.seconds(7200))) }
      func tick(isOffline: Bool) throws -> FetchDecision {
        try installation.client(constraints: FetchConstraints(isOffline: isOffline)).decision()
      }
      for _ in 0..<3 {
        #expect(try tick(isOffline: true) == .wait(until: clock.now.date + 120, .offline))
        clock.advance(by: 120)
      }
      guard case .wait(let due, .startupDelay) = try tick(isOffline: false) else {
        Issue.record("there is no delay")
        return
      }
      #expect(due <= clock.now.date + FetchScheduler.maximumStartupDelay.inSeconds)
      clock.advance(by: due.timeIntervalSince(clock.now.date) + 1)
      #expect(try tick(isOffline: false).isWake)
      #expect(await (try installation.client()).performFetch(.scheduled).result == .noData)
      #expect(try !tick(isOffline: false).isWake)
    }
  }
}

extension FetchDecision {
  fileprivate var isWake: Bool { if case .wake = self { true } else { false } }
}

/// A transport that always fails.
private struct FailingTransport: HTTPTransport {
  let error: HTTPTransportError

  func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse { throw error }

  func upload(_ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]) async throws
    -> HTTPTransportResponse
  {
    throw error
  }
}
