import FaultServer
import Foundation
import NIOCore
import OutgoingHTTP
import TestKit
import TestSupport
import Testing

/// The limits of a request, at their bounds and beyond.
@Suite struct OutgoingLimitsTests {
  private static let page = FaultResponse(body: Data("news".utf8))

  private static func request(_ server: FaultServer, _ path: String = "/") throws -> OutgoingRequest {
    OutgoingRequest(url: try OutgoingURL("http://feeds.example:\(server.port)\(path)"))
  }

  @Test("Without settings, the limits are those of the documentation")
  func defaults() {
    let limits = OutgoingLimits()
    #expect(limits.bodyBytes == 16 << 20 && limits.redirects == 5 && !limits.ignoresBody)
    #expect(limits.totalTime == .seconds(60) && limits.idleTime == .seconds(20) && limits.connectTime == .seconds(10))
  }

  @Test("The fields of a response have at most 64 KiB together", arguments: [(60, true), (70, false)])
  func header(count: Int, isRead: Bool) async throws {
    let value = String(repeating: "x", count: 1000)
    let response = (0..<count).reduce(Self.page) { $0.adding("X-\($1)", value) }
    try await FaultServer.with({ _ in response }) { server in
      try await OutgoingClientTests.withClient { client in
        let request = try Self.request(server)
        if isRead {
          let answer = try await client.send(request)
          #expect(answer.body == Array("news".utf8))
        } else {
          let tooLarge = OutgoingError.tooLarge("the header of the response of feeds.example is too large")
          await #expect(throws: tooLarge) { try await client.send(request) }
        }
      }
    }
  }

  @Test("A response that is not HTTP is said to be none")
  func otherProtocol() async throws {
    try await FaultServer.with({ _ in .raw(Data("no HTTP at all\r\n\r\n".utf8)) }) { server in
      try await OutgoingClientTests.withClient { client in
        let request = try Self.request(server)
        let malformed = OutgoingError.malformed("the response of feeds.example is not valid HTTP")
        await #expect(throws: malformed) { try await client.send(request) }
      }
    }
  }

  @Test("The first eight addresses of a name are tried", arguments: [(7, true), (8, false)])
  func addresses(before: Int, isReached: Bool) async throws {
    // Nothing listens at the others.
    let lookup: NameResolver.Lookup = { _, port in
      let addresses = Array(repeating: "127.0.0.2", count: before) + ["127.0.0.1"]
      return try addresses.map { try SocketAddress(ipAddress: $0, port: port) }
    }
    try await FaultServer.with({ _ in Self.page }) { server in
      try await OutgoingClientTests.withClient(allowed: ["127.0.0.1", "127.0.0.2"], lookup: lookup) { client in
        let request = try Self.request(server)
        if isReached {
          let answer = try await client.send(request)
          #expect(answer.status == 200)
        } else {
          let unreachable = OutgoingError.unreachable("feeds.example cannot be reached on port \(server.port)")
          await #expect(throws: unreachable) { try await client.send(request) }
          #expect(server.requests.isEmpty)
        }
      }
    }
  }

  @Test("The system names each address once, with the port, and a name without one is an error")
  func systemLookup() throws {
    for text in ["127.0.0.1", "::1"] {
      let addresses = try NameResolver.systemLookup(text, 8443)
      let expected = try SocketAddress(ipAddress: text, port: 8443)
      #expect(addresses == [expected])
    }
    #expect(throws: OutgoingError.self) { try NameResolver.systemLookup("nowhere.invalid", 80) }
  }

  @Test("31 look-ups that do not end delay no other")
  func lookups() async throws {
    let (gate, lookups) = (DispatchSemaphore(value: 0), Count())
    let lookup: NameResolver.Lookup = { host, port in
      if host == "stuck.example" {
        _ = lookups.next()
        gate.wait()
      }
      return [try SocketAddress(ipAddress: "127.0.0.1", port: port)]
    }
    try await FaultServer.with({ _ in Self.page }) { server in
      try await OutgoingClientTests.withClient(lookup: lookup) { client in
        defer { for _ in 0..<31 { gate.signal() } }
        let stuck = OutgoingRequest(url: try OutgoingURL("http://stuck.example:\(server.port)/"))
        let tasks = (0..<31).map { _ in Task { try await client.send(stuck) } }
        try await eventually("they have begun") { lookups.value == 31 }
        let answer = try await client.send(try Self.request(server))
        #expect(answer.status == 200)
        for task in tasks { task.cancel() }
      }
    }
  }

  @Test("A cancelled request ends during a look-up that does not end")
  func cancellationOfLookup() async throws {
    let (gate, lookups) = (DispatchSemaphore(value: 0), Count())
    let lookup: NameResolver.Lookup = { _, _ in
      _ = lookups.next()
      gate.wait()
      return []
    }
    var limits = OutgoingLimits()
    limits.totalTime = .seconds(20)
    try await OutgoingClientTests.withClient(limits, lookup: lookup) { client in
      defer { gate.signal() }
      let url = try OutgoingURL("http://stuck.example/")
      let task = Task { try await client.send(OutgoingRequest(url: url)) }
      try await eventually("the look-up has begun") { lookups.value == 1 }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("A cancelled request ends as cancelled, also if only the status counts and has arrived")
  func cancellationOfBody() async throws {
    try await FaultServer.with({ _ in Self.page.hanging(at: .body(2)) }) { server in
      var limits = OutgoingLimits()
      limits.ignoresBody = true
      try await OutgoingClientTests.withClient(limits) { client in
        let task = Task { try await client.send(try Self.request(server)) }
        try await eventually("a part of the response is sent") { server.bytesWritten > 2 }
        // The client reads what has arrived. Nothing shows from outside that it has.
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
    }
  }

  @Test("A connection is closed after the response, also if the server leaves it open")
  func openConnection() async throws {
    var limits = OutgoingLimits()
    (limits.idleTime, limits.totalTime) = (.seconds(1000), .seconds(1000))
    try await FaultServer.with({ _ in Self.page.hanging(at: .body(4)) }) { server in
      try await OutgoingClientTests.withClient(limits) { client in
        let answer = try await client.send(try Self.request(server))
        #expect(answer.body == Array("news".utf8))
        try await eventually("the connection is closed") { server.openConnections == 0 }
      }
    }
  }

  @Test("An attempt to connect ends with its own time, or with that of its request", arguments: [(1000, 1), (1, 1000)])
  func connectTime(seconds: Int, total: Int) async throws {
    let listener = try SilentListener(isFull: true)
    var limits = OutgoingLimits()
    (limits.connectTime, limits.totalTime) = (.seconds(seconds), .seconds(total))
    try await OutgoingClientTests.withClient(limits) { client in
      let request = OutgoingRequest(url: try OutgoingURL("http://feeds.example:\(listener.port)/"))
      let began = ContinuousClock.now
      await #expect(throws: OutgoingError.self) { try await client.send(request) }
      // The system gives up after two minutes. The listener must live until here.
      #expect(ContinuousClock.now - began < .seconds(60), "port \(listener.port)")
    }
  }

  @Test("The time of a request is that of all its redirects together")
  func time() async throws {
    var limits = OutgoingLimits()
    limits.totalTime = .seconds(1)
    try await FaultServer.with { server in
      server.respond { request in
        let number = Int(request.path.dropFirst()) ?? 0
        let redirect = FaultResponse(
          status: 302, headers: [("Location", "/\(number + 1)")], body: Data(repeating: 0x78, count: 4))
        return number < 5 ? redirect.dripping(every: .milliseconds(100)) : Self.page
      }
      try await OutgoingClientTests.withClient(limits) { client in
        let request = try Self.request(server, "/0")
        await #expect(throws: OutgoingError.self) { try await client.send(request) }
        #expect(server.requests.allSatisfy { $0.path != "/5" })
      }
    }
  }
}
