import Foundation
import TestKit
import TestSupport
import Testing

extension FaultTests {
  /// Runs the body with a server that has published 20 items.
  private static func serve(
    launcher: [String] = [], _ body: @Sendable (RunningServer) async throws -> Void
  ) async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve(launcher: launcher) { server in
        for number in 0..<20 {
          let answer = try await server.send(
            "POST", "/v1/editorial/items", key: key,
            body: #"{"date": "2026-01-01T00:00:00Z", "text": "item \#(number)"}"#)
          try #require(answer.status == 201)
        }
        try await body(server)
        // The server still runs.
        #expect(try await server.status("/healthz") == 200)
      }
    }
  }

  @Test(
    "5000 clients that send their requests byte by byte do not slow down other clients", .enabled(if: runsLongTests))
  func slowloris() async throws {
    try await Self.serve { server in
      _ = try await Latency.measure(port: server.port)
      let alone = try await Latency.measure(port: server.port)
      let connections = try await ConnectionSet(
        5000, port: server.port, firstBytes: "GET /v1/items HTTP/1.1\r\nX-Slow: ")
      let sending = Task { try await connections.sendRepeatedly("a", every: .seconds(1)) }
      try await Task.sleep(for: .seconds(5))
      // Measures until the header timeout and while the clients reconnect.
      var (worst, present) = (alone, 0)
      for _ in 0..<4 {
        present = try await max(present, connections.countOpen())
        let next = try await Latency.measure(port: server.port)
        if next.p99 > worst.p99 { worst = next }
      }
      sending.cancel()
      _ = await sending.result
      connections.closeAll()
      // The server closes all connections at about the same time, so `present` is the maximum of several counts.
      #expect(present > 4000)
      #expect(connections.opened > 8000)
      #expect(worst.p99 < max(alone.p99 * 3, .milliseconds(50)))
      Self.report(
        "Slow-loris, 5000 connections that send a header byte by byte and come again",
        promised: "normal requests keep a p99 within three times the unloaded or 50 ms",
        seen: "p99 \(Self.milliseconds(worst.p99)) at worst, \(Self.milliseconds(alone.p99)) unloaded")
    }
  }

  @Test("10 000 idle connections use little memory and do not slow down other clients", .enabled(if: runsLongTests))
  func idleConnections() async throws {
    try await Self.serve { server in
      _ = try await Latency.measure(port: server.port)
      let alone = try await Latency.measure(port: server.port)
      let before = try Usage(of: server.process)
      let connections = try await ConnectionSet(
        10_000, port: server.port, firstBytes: "GET /v1/items?limit=20 HTTP/1.1\r\nHost: localhost\r\n\r\n")
      try await Task.sleep(for: .seconds(3))
      let during = try Usage(of: server.process)
      let beside = try await Latency.measure(port: server.port)
      let open = try await connections.countOpen()
      #expect((connections.opened, open) == (10_000, 10_000))
      let idle = try Usage(of: server.process)
      try await Task.sleep(for: .seconds(5))
      let later = try Usage(of: server.process)
      connections.closeAll()
      try await eventually("all connections are closed") {
        try Usage(of: server.process).descriptors <= before.descriptors + 5
      }
      let each = Double(during.kilobytes - before.kilobytes) / 10_000
      #expect(each < 40)
      #expect(beside.p99 < max(alone.p99 * 3, .milliseconds(50)))
      #expect(later.processor - idle.processor < .milliseconds(500))
      Self.report(
        "10 000 connections, idle after a request each",
        promised: "all are kept, cost under 40 KB each and no processor time, and slow nobody down",
        seen:
          "\(String(format: "%.1f KB", each)) each, \(Self.milliseconds(later.processor - idle.processor)) of processor time in 5 s; p99 \(Self.milliseconds(beside.p99)), \(Self.milliseconds(alone.p99)) without them"
      )
    }
  }

  @Test("Headers of a megabyte are refused and use no memory", .enabled(if: runsLongTests))
  func hugeHeaders() async throws {
    try await Self.serve { server in
      let line = Data("GET /v1/items HTTP/1.1\r\nHost: localhost\r\n".utf8)
      let huge = [
        line + Data("X-Huge: \(String(repeating: "a", count: 1 << 20))\r\n\r\n".utf8),
        line + Data((0..<20_000).map { "X-\($0): \(String(repeating: "a", count: 40))\r\n" }.joined().utf8),
        Data("GET /v1/items?q=\(String(repeating: "a", count: 1 << 20)) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
      ]
      let before = try Usage(of: server.process)
      var statuses: [Int: Int] = [:]
      for round in 0..<100 {
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
          for request in huge {
            group.addTask {
              // The server reads and discards the rest, or it cuts the connection. The answer may be lost with the
              // connection.
              (try? await RawConnection.exchange([request], port: server.port, endsInput: false))?.first?.status ?? 0
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        for status in answers { statuses[status, default: 0] += 1 }
        if round % 10 == 0 { #expect(try await server.status("/v1/items") == 200) }
      }
      let grown = try Usage(of: server.process).kilobytes - before.kilobytes
      #expect(Set(statuses.keys).isSubset(of: [0, 400, 414, 431]))
      #expect(statuses[431, default: 0] > 100)
      #expect(grown < 50_000)
      let list = statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
      Self.report(
        "300 requests with headers or targets of a megabyte", promised: "431, or 414, and no memory kept",
        seen: "\(list) (0: cut off); \(grown / 1024) MB more")
    }
  }

  @Test(
    "Without free descriptors, a server serves its connections, stays idle, and recovers", .enabled(if: runsLongTests))
  func noDescriptors() async throws {
    try await Self.serve(launcher: ["/usr/bin/prlimit", "--nofile=128:128"]) { server in
      let request = "GET /v1/items?limit=20 HTTP/1.1\r\nHost: localhost\r\n\r\n"
      let present = try BlockingConnection(port: server.port)
      _ = try present.exchange(request)
      let connections = try await ConnectionSet(
        1000, port: server.port, firstBytes: request, connectTimeout: .milliseconds(100))
      try await Task.sleep(for: .seconds(2))
      let before = try Usage(of: server.process)
      // A quarter of the descriptors is few here, so that 48 stay free. SwiftNIO accepts four connections at a time.
      #expect((80...84).contains(before.descriptors))
      for _ in 0..<50 {
        _ = try present.exchange(request)
        try await Task.sleep(for: .milliseconds(100))
      }
      let used = try Usage(of: server.process).processor - before.processor
      #expect(used < .seconds(1.5))
      connections.closeAll()
      let began = ContinuousClock.now
      try await eventually("others are let in") { (try? await server.status("/v1/items")) == 200 }
      let after = ContinuousClock.now - began
      #expect(after < .seconds(10))
      Self.report(
        "1000 connections for 128 descriptors",
        promised:
          "who is there is answered, descriptors stay free, the processor rests, others are let in within 10 s of there being room",
        seen:
          "50 of 50 answered, \(Self.milliseconds(used)) of processor time in 5 s, others after \(Self.seconds(after))")
    }
  }
}
