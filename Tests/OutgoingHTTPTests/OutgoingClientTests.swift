import FaultServer
import Foundation
import HTTPTypes
import NIOCore
import NetworkAddresses
import OutgoingHTTP
import Synchronization
import TestKit
import Testing

@Suite struct OutgoingClientTests {
  /// Runs the body with a client that resolves all names to loopback, which only the names in `allowed` may reach.
  static func withClient<Value>(
    _ limits: OutgoingLimits = OutgoingLimits(), allowed: [String] = ["127.0.0.1"],
    lookup: @escaping NameResolver.Lookup = { [try SocketAddress(ipAddress: "127.0.0.1", port: $1)] },
    _ body: (OutgoingClient) async throws -> Value
  ) async throws -> Value {
    var policy = AddressPolicy()
    policy.allowedNetworks = allowed.compactMap { IPNetwork($0) }
    let client = OutgoingClient(
      policy: policy, userAgent: "Tidings/0 (+https://news.example)", limits: limits,
      resolver: NameResolver(lookup: lookup))
    return try await withResource(client, release: { await $0.shutdown() }, body)
  }

  private static func url(_ server: FaultServer, _ path: String = "/", host: String = "feeds.example") throws
    -> OutgoingURL
  {
    try OutgoingURL("http://\(host):\(server.port)\(path)")
  }

  private static func status(_ client: OutgoingClient, _ server: FaultServer) async throws -> Int {
    try await client.send(OutgoingRequest(url: try url(server))).status
  }

  private static let page = FaultResponse(body: Data("news".utf8))

  @Test("A request carries the host, the contact and the caller's fields")
  func request() async throws {
    try await FaultServer.with({ _ in Self.page }) { server in
      try await Self.withClient { client in
        let response = try await client.send(
          OutgoingRequest(url: try Self.url(server, "/feed?a=b"), fields: [.ifNoneMatch: "\"v1\""]))
        #expect(response.status == 200)
        #expect(response.body == Array("news".utf8))
        #expect(response.movedTo == nil)
        let request = try #require(server.requests.first)
        #expect(request.target == "/feed?a=b")
        #expect(request["Host"] == "feeds.example:\(server.port)")
        #expect(request["User-Agent"] == "Tidings/0 (+https://news.example)")
        #expect(request["If-None-Match"] == "\"v1\"")
        #expect(request["Accept-Encoding"] == "gzip, deflate" && request["Connection"] == "close")
      }
    }
  }

  @Test("A body is sent with its length")
  func post() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 202) }) { server in
      try await Self.withClient { client in
        let response = try await client.send(
          OutgoingRequest(method: .post, url: try Self.url(server), body: Array("a=b".utf8)))
        #expect(response.status == 202)
        #expect(server.requests.map(\.method) == ["POST"] && server.requests.first?["Content-Length"] == "3")
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["a=b"])
      }
    }
  }

  @Test("A name is resolved once for a connection, which is made to the checked address")
  func rebinding() async throws {
    try await FaultServer.with({ _ in Self.page }) { server in
      let calls = Mutex(0)
      // The first answer is allowed. Any later one would be the address of the metadata service.
      let lookup: NameResolver.Lookup = { _, port in
        let call = calls.withLock { calls in
          calls += 1
          return calls
        }
        return [try SocketAddress(ipAddress: call == 1 ? "127.0.0.1" : "169.254.169.254", port: port)]
      }
      try await Self.withClient(lookup: lookup) { client in
        let status = try await Self.status(client, server)
        #expect(status == 200)
        #expect(calls.withLock { $0 } == 1)
        await #expect(throws: OutgoingError.refused("feeds.example has a link-local address, which is not allowed")) {
          try await client.send(OutgoingRequest(url: try Self.url(server)))
        }
        #expect(server.requests.count == 1)
      }
    }
  }

  @Test("Only the allowed ones of several addresses are used")
  func severalAddresses() async throws {
    try await FaultServer.with({ _ in Self.page }) { server in
      let lookup: NameResolver.Lookup = { _, port in
        try ["10.0.0.1", "::ffff:127.0.0.1", "127.0.0.1"].map { try SocketAddress(ipAddress: $0, port: port) }
      }
      try await Self.withClient(lookup: lookup) { client in
        let status = try await Self.status(client, server)
        #expect(status == 200)
      }
      // Nothing listens at the first address. The reason is reported if none is left.
      for (addresses, isReached) in [(["127.0.0.2", "127.0.0.1"], true), (["127.0.0.2", "10.0.0.1"], false)] {
        let lookup: NameResolver.Lookup = { _, port in
          try addresses.map { try SocketAddress(ipAddress: $0, port: port) }
        }
        try await Self.withClient(allowed: ["127.0.0.1", "127.0.0.2"], lookup: lookup) { client in
          if isReached {
            let status = try await Self.status(client, server)
            #expect(status == 200)
          } else {
            await #expect(throws: OutgoingError.refused("feeds.example has a private address, which is not allowed")) {
              try await client.send(OutgoingRequest(url: try Self.url(server)))
            }
          }
        }
      }
      let nowhere: NameResolver.Lookup = { _, port in [try SocketAddress(ipAddress: "127.0.0.2", port: port)] }
      try await Self.withClient(allowed: ["127.0.0.2"], lookup: nowhere) { client in
        let reason = "feeds.example cannot be reached on port \(server.port)"
        await #expect(throws: OutgoingError.unreachable(reason)) {
          try await client.send(OutgoingRequest(url: try Self.url(server)))
        }
      }
    }
  }

  @Test("A redirect to an address that is not allowed is refused", arguments: [301, 302, 303, 307, 308])
  func redirectToPrivateAddress(status: Int) async throws {
    let lookup: NameResolver.Lookup = { host, port in
      [try SocketAddress(ipAddress: host == "feeds.example" ? "127.0.0.1" : "127.0.0.2", port: port)]
    }
    try await FaultServer.with { server in
      let port = server.port
      server.respond { _ in
        FaultResponse(status: status, headers: [("Location", "http://internal.example:\(port)/secret")])
      }
      try await Self.withClient(lookup: lookup) { client in
        await #expect(throws: OutgoingError.refused("internal.example has a loopback address, which is not allowed")) {
          try await client.send(OutgoingRequest(url: try Self.url(server)))
        }
        #expect(server.requests.count == 1)
      }
    }
  }

  @Test("Permanent redirects are remembered up to the first temporary one")
  func redirects() async throws {
    try await FaultServer.with { server in
      server.respond { request in
        switch request.path {
        case "/a": FaultResponse(status: 301, headers: [("Location", "/b")])
        case "/b": FaultResponse(status: 308, headers: [("Location", "/c")])
        case "/c": FaultResponse(status: 302, headers: [("Location", "/d")])
        case "/d": FaultResponse(status: 301, headers: [("Location", "/e")])
        default: Self.page
        }
      }
      try await Self.withClient { client in
        let response = try await client.send(OutgoingRequest(url: try Self.url(server, "/a")))
        #expect(response.url == (try Self.url(server, "/e")))
        #expect(response.movedTo == (try Self.url(server, "/c")))
      }
    }
  }

  @Test("Redirects end at the limit")
  func redirectLoop() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 302, headers: [("Location", "/")]) }) { server in
      try await Self.withClient { client in
        await #expect(throws: OutgoingError.tooManyRedirects(5)) {
          try await client.send(OutgoingRequest(url: try Self.url(server)))
        }
        #expect(server.requests.count == 6)
        // The fifth redirect is followed.
        server.respond { request in
          let number = Int(request.path.dropFirst()) ?? 0
          return number < 5 ? FaultResponse(status: 302, headers: [("Location", "/\(number + 1)")]) : Self.page
        }
        let response = try await client.send(OutgoingRequest(url: try Self.url(server, "/0")))
        #expect(response.url == (try Self.url(server, "/5")))
      }
    }
  }

  @Test(
    "A request with another method follows only redirects that keep it, and other responses lead nowhere",
    arguments: [
      (.get, 301, true), (.get, 302, true), (.get, 303, true), (.get, 307, true), (.get, 308, true),
      (.get, 300, false), (.get, 304, false), (.get, 201, false), (.get, 404, false),
      (.post, 301, false), (.post, 302, false), (.post, 303, false), (.post, 307, true), (.post, 308, true),
    ] as [(HTTPRequest.Method, Int, Bool)])
  func methods(method: HTTPRequest.Method, status: Int, isFollowed: Bool) async throws {
    try await FaultServer.with({ request in
      request.path == "/" ? FaultResponse(status: status, headers: [("Location", "/x")]) : Self.page
    }) { server in
      try await Self.withClient { client in
        let body: [UInt8]? = method == .post ? Array("a=b".utf8) : nil
        let response = try await client.send(OutgoingRequest(method: method, url: try Self.url(server), body: body))
        #expect(response.status == (isFollowed ? 200 : status))
        #expect(server.requests.map(\.path) == (isFollowed ? ["/", "/x"] : ["/"]))
        #expect(server.requests.allSatisfy { $0.method == method.rawValue && Array($0.body) == body ?? [] })
      }
    }
  }

  @Test("Without allowed redirects, a redirect is a response like any other", arguments: [301, 302, 303, 307, 308])
  func noRedirects(status: Int) async throws {
    try await FaultServer.with({ _ in FaultResponse(status: status, headers: [("Location", "/x")]) }) { server in
      var limits = OutgoingLimits()
      limits.redirects = 0
      try await Self.withClient(limits) { client in
        for method in [HTTPRequest.Method.get, .post] {
          let response = try await client.send(OutgoingRequest(method: method, url: try Self.url(server)))
          #expect(response.status == status && response.fields[.location] == "/x")
        }
        #expect(server.requests.map(\.path) == ["/", "/"])
      }
    }
  }

  @Test("If only the status counts, a body that is too large, cut off or malformed ends the response")
  func ignoredBody() async throws {
    try await FaultServer.with { server in
      var limits = OutgoingLimits()
      limits.bodyBytes = 1 << 16
      limits.idleTime = .seconds(1)
      limits.ignoresBody = true
      try await Self.withClient(limits) { client in
        for response in [
          Self.page, .huge(bytes: 1 << 20), .gzipBomb(expandingTo: 1 << 24), Self.page.truncated(at: .body(2)),
          Self.page.resetting(at: .body(2)), Self.page.hanging(at: .body(2)), Self.page.gzipped(.cut),
          FaultResponse(headers: [("Content-Encoding", "br")], body: Data("x".utf8)),
        ] {
          server.respond(next: response)
          let answer = try await client.send(OutgoingRequest(url: try Self.url(server)))
          #expect(answer.status == 200 && answer.body.count <= limits.bodyBytes)
        }
        server.respond(next: Self.page.truncated(at: .inHead))
        await #expect(throws: OutgoingError.self) {
          try await client.send(OutgoingRequest(url: try Self.url(server)))
        }
      }
    }
  }

  @Test("Credentials are not sent on to another origin")
  func credentials() async throws {
    try await FaultServer.with { server in
      let port = server.port
      server.respond { request in
        request.path == "/"
          ? FaultResponse(status: 307, headers: [("Location", "http://other.example:\(port)/x")]) : Self.page
      }
      try await Self.withClient { client in
        _ = try await client.send(
          OutgoingRequest(url: try Self.url(server), fields: [.authorization: "Bearer secret"]))
        #expect(server.takeRequests().map { $0["Authorization"] } == ["Bearer secret", nil])
        // The same origin still has them.
        server.respond(next: FaultResponse(status: 307, headers: [("Location", "/x")]))
        _ = try await client.send(
          OutgoingRequest(url: try Self.url(server), fields: [.authorization: "Bearer secret"]))
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer secret", "Bearer secret"])
        // Another port is another origin.
        try await FaultServer.with({ _ in Self.page }) { other in
          let location = try Self.url(other, "/x").text
          server.respond(next: FaultResponse(status: 307, headers: [("Location", location)]))
          _ = try await client.send(
            OutgoingRequest(url: try Self.url(server), fields: [.authorization: "Bearer secret"]))
          #expect(other.requests.map { $0["Authorization"] } == [nil])
        }
      }
    }
  }

  @Test("A compressed body is decoded, and one that expands beyond the limit is refused")
  func compression() async throws {
    try await FaultServer.with { server in
      var limits = OutgoingLimits()
      limits.bodyBytes = 1 << 20
      try await Self.withClient(limits) { client in
        server.respond(next: Self.page.gzipped(), .gzipBomb(expandingTo: 1 << 27), .huge(bytes: 1 << 24))
        let request = OutgoingRequest(url: try Self.url(server))
        #expect(try await client.send(request).body == Array("news".utf8))
        let tooLarge = OutgoingError.tooLarge("the response of feeds.example has more than 1048576 bytes")
        await #expect(throws: tooLarge) { try await client.send(request) }
        await #expect(throws: tooLarge) { try await client.send(request) }
        server.respond(next: FaultResponse(body: Data(count: 1 << 20)), FaultResponse(body: Data(count: 1 << 20 + 1)))
        #expect(try await client.send(request).body.count == 1 << 20)
        await #expect(throws: tooLarge) { try await client.send(request) }
      }
    }
  }

  @Test("Responses that are malformed, truncated or too large in their header are refused")
  func malformed() async throws {
    try await FaultServer.with { server in
      try await Self.withClient { client in
        for response in [
          FaultResponse.raw(Data("SSH-2.0-OpenSSH_9\r\n".utf8)), Self.page.truncated(at: .body(2)),
          Self.page.truncated(at: .start), Self.page.resetting(at: .inHead), Self.page.withHugeHeader(bytes: 1 << 17),
          Self.page.gzipped(.cut), FaultResponse(headers: [("Content-Encoding", "br")], body: Data("x".utf8)),
        ] {
          server.respond(next: response)
          await #expect(throws: OutgoingError.self) {
            try await client.send(OutgoingRequest(url: try Self.url(server)))
          }
        }
        // The client works on.
        server.respond(next: FaultResponse(status: 304, headers: [("Content-Encoding", "gzip")]))
        let status = try await Self.status(client, server)
        #expect(status == 304)
      }
    }
  }

  @Test("A response that pauses or drips is given up")
  func slow() async throws {
    try await FaultServer.with { server in
      var limits = OutgoingLimits()
      limits.idleTime = .milliseconds(200)
      try await Self.withClient(limits) { client in
        server.respond(next: Self.page.hanging(at: .start), Self.page.hanging(at: .body(1)))
        for _ in 0..<2 {
          await #expect(throws: OutgoingError.timedOut("feeds.example paused for too long in its response")) {
            try await client.send(OutgoingRequest(url: try Self.url(server)))
          }
        }
        try await eventually("the connections are closed") { server.openConnections == 0 }
      }
      limits.idleTime = .seconds(30)
      limits.totalTime = .milliseconds(500)
      try await Self.withClient(limits) { client in
        server.respond(next: FaultResponse(body: Data(count: 10_000)).dripping(every: .milliseconds(20)))
        await #expect(throws: OutgoingError.timedOut("feeds.example did not respond in time")) {
          try await client.send(OutgoingRequest(url: try Self.url(server)))
        }
      }
    }
  }

  @Test("A look-up that does not end delays its own request only until the deadline")
  func slowLookup() async throws {
    try await FaultServer.with({ _ in Self.page }) { server in
      let gate = DispatchSemaphore(value: 0)
      let lookup: NameResolver.Lookup = { host, port in
        if host == "stuck.example" { gate.wait() }
        return [try SocketAddress(ipAddress: "127.0.0.1", port: port)]
      }
      var limits = OutgoingLimits()
      limits.totalTime = .milliseconds(300)
      try await Self.withClient(limits, lookup: lookup) { client in
        defer { gate.signal() }
        await #expect(throws: OutgoingError.unresolved("the name stuck.example could not be resolved in time")) {
          try await client.send(OutgoingRequest(url: try Self.url(server, host: "stuck.example")))
        }
      }
      limits.totalTime = .seconds(60)
      try await Self.withClient(limits) { client in
        let status = try await Self.status(client, server)
        #expect(status == 200)
      }
    }
  }

  @Test("A cancelled request ends")
  func cancellation() async throws {
    try await FaultServer.with({ _ in Self.page.hanging(at: .start) }) { server in
      try await Self.withClient { client in
        let task = Task { try await client.send(OutgoingRequest(url: try Self.url(server))) }
        try await eventually("the request has arrived") { server.requests.count == 1 }
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        try await eventually("the connection is closed") { server.openConnections == 0 }
      }
    }
  }

  @Test("A cancelled request ends during the handshake of TLS, which the server does not answer")
  func cancellationOfHandshake() async throws {
    try await FaultServer.with { server in
      var limits = OutgoingLimits()
      limits.idleTime = .seconds(1000)
      limits.totalTime = .seconds(1000)
      try await Self.withClient(limits) { client in
        let url = try OutgoingURL("https://feeds.example:\(server.port)/")
        let task = Task { try await client.send(OutgoingRequest(url: url)) }
        try await eventually("the handshake has begun") { server.bytesRead > 0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
    }
  }
}
