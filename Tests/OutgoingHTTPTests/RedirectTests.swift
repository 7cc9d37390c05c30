import FaultServer
import Foundation
import NIOCore
import OutgoingHTTP
import TestKit
import Testing

@Suite("A redirect") struct RedirectTests {
  @Test(
    "is corrected as browsers do",
    arguments: [
      ("/spaces target.xml?q=a b", "/spaces%20target.xml?q=a%20b"), ("  /x  ", "/x"), ("new.xml", "/a/new.xml"),
      ("../new.xml", "/new.xml"), ("?q=1", "/a/b?q=1"), ("\\c\\d?e\\f", "/c/d?e\\f"),
      ("/%zz|\u{FC}", "/%25zz%7C%C3%BC"),
      ("/a\tb", "/ab"), ("/%20x y", "/%20x%20y"), ("//feeds.example:PORT/c d", "/c%20d"),
      ("http:feeds.example", nil), ("HTTP:\\\\feeds.example:PORT\\x", "/x"),
      ("http:////feeds.example:PORT/x y", "/x%20y"), ("http:///feeds.example:PORT/x", "/x"),
      ("next?u=http://other.example:0/|", "/a/next?u=http://other.example:0/%7C"), ("http://feeds.example:0/", nil),
      ("http://feeds.example:99999/", nil), ("http://feeds.example:99999999999999999999/", nil), ("http:///", nil),
      ("http://feeds .example/", nil), ("http://u:p@feeds.example:PORT/", nil), ("javascript:alert(1)", nil),
    ] as [(String, String?)])
  func repair(location: String, target: String?) async throws {
    try await FaultServer.with { server in
      let location = location.replacing("PORT", with: "\(server.port)")
      server.respond { request in
        request.path == "/a/b" && !request.target.contains("?")
          ? FaultResponse(status: 302, headers: [("Location", location)]) : FaultResponse()
      }
      try await OutgoingClientTests.withClient { client in
        let request = OutgoingRequest(url: try OutgoingURL("http://feeds.example:\(server.port)/a/b"))
        if let target {
          _ = try await client.send(request)
          #expect(server.requests.last?.target.replacing("\\", with: "%5C") == target.replacing("\\", with: "%5C"))
        } else {
          await #expect(throws: OutgoingError.self) { try await client.send(request) }
        }
      }
    }
  }

  @Test("carries the cookies of the redirects before it, to their host, path and scheme only")
  func cookies() async throws {
    try await FaultServer.with { server in
      let port = server.port
      server.respond { request in
        switch (request.path, request["Cookie"] ?? "") {
        case ("/feed", let cookie) where cookie.contains("seen=1"):
          FaultResponse(status: 302, headers: [("Location", "http://other.example:\(port)/end")])
        case ("/feed", _):
          FaultResponse(
            status: 302,
            headers: [
              ("Location", "/feed"), ("Set-Cookie", "seen=1; Path=/"), ("Set-Cookie", "b=2; HttpOnly"),
              ("Set-Cookie", "secure=1; Secure"), ("Set-Cookie", "path=1; Path=/fe"), ("Set-Cookie", "no"),
              ("Set-Cookie", "foreign=1; Domain=other.example"), ("Set-Cookie", "gone=1"),
              ("Set-Cookie", "gone=; Max-Age=0"), ("Set-Cookie", "wide=1; Domain=.feeds.example; Path=/feed"),
            ])
        default: FaultResponse()
        }
      }
      try await OutgoingClientTests.withClient { client in
        let request = OutgoingRequest(url: try OutgoingURL("http://feeds.example:\(port)/feed"))
        #expect(try await client.send(request).status == 200)
        #expect(server.requests.map { $0["Cookie"] } == [nil, "seen=1; b=2; wide=1", nil])
        // The next chain begins without cookies.
        _ = try await client.send(request)
        #expect(server.requests[3]["Cookie"] == nil)
      }
    }
  }

  private static func numbered(_ count: Int) -> [String] { (1...count).map { "c\($0)=1" } }

  /// A cookie of a number of bytes.
  private static func cookie(_ bytes: Int) -> String { "a=" + String(repeating: "x", count: bytes - 2) }

  @Test(
    "carries the last value of each cookie, at most 32 of them and 4,096 bytes",
    arguments: [
      (["a=1", "a=2"], "a=2"), (["a=1; Path=/", "a=2; Path=/a"], "a=1; a=2"), (["a=1; Max-Age=-1"], nil),
      (["a=1", "a=2; max-age=0", "b=3"], "b=3"), (["a=1; Max-Age=1"], "a=1"), (["a=1; Max-Age=x"], "a=1"),
      (["a=1", "a=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "b=3"], "b=3"),
      (["a=1; expires=Thu, 01-Jan-1970 00:00:01 GMT"], nil), (["a=1; Expires=Thursday, 01-Jan-70 00:00:00 GMT"], nil),
      (["a=1; Expires=Thu, 01-Jan-98 00:00:00 GMT"], nil), (["a=1; Expires=Thu Jan  1 00:00:00 1970"], nil),
      (["a=1; Expires=Thu, 31 Dec 9999 23:59:59 GMT"], "a=1"), (["a=1; Expires=Tue, 31-Dec-69 23:59:59 GMT"], "a=1"),
      (["a=1; Expires=0"], "a=1"), (["a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], "a=1"),
      (["a=1; Max-Age=0; Expires=Thu, 31 Dec 9999 23:59:59 GMT"], nil),
      (["=1", "a=1 2", "b", "a=\u{FC}", "c = 3 "], "c=3"), (["a=1; Path=x"], "a=1"), (["a=1; Path=/a/b/"], nil),
      (["a=1; Path=/a/"], "a=1"), (["a=1; Path=/a/b"], "a=1"), (["a=1; Path=/a/bc"], nil),
      (numbered(33), numbered(32).joined(separator: "; ")), ([cookie(4096)], cookie(4096)),
      ([cookie(4097), "b=1"], "b=1"), ([cookie(4091), "b=1"], cookie(4091) + "; b=1"), ([cookie(4092), "b=1"], nil),
    ] as [([String], String?)])
  func cookieRules(fields: [String], sent: String?) async throws {
    try await FaultServer.with { server in
      server.respond { request in
        request.path == "/a"
          ? FaultResponse(
            status: 302, headers: [(name: "Location", value: "/a/b")] + fields.map { (name: "Set-Cookie", value: $0) })
          : FaultResponse()
      }
      try await OutgoingClientTests.withClient { client in
        _ = try await client.send(OutgoingRequest(url: try OutgoingURL("http://feeds.example:\(server.port)/a")))
        #expect(server.requests.map { $0["Cookie"] } == [nil, sent])
      }
    }
  }

  @Test(
    "carries a cookie until the time at which it expires", arguments: [(-1, "a=1"), (0, nil)] as [(Double, String?)])
  func expiry(seconds: Double, sent: String?) async throws {
    try await FaultServer.with { server in
      server.respond { request in
        request.path == "/a"
          ? FaultResponse(
            status: 302, headers: [("Location", "/b"), ("Set-Cookie", "a=1; Expires=Wed, 01 Jan 3000 00:00:00 GMT")])
          : FaultResponse()
      }
      try await OutgoingClientTests.withClient { client in
        let request = OutgoingRequest(url: try OutgoingURL("http://feeds.example:\(server.port)/a"))
        _ = try await client.send(request, at: Date(timeIntervalSince1970: 32_503_680_000 + seconds))
        #expect(server.requests.map { $0["Cookie"] } == [nil, sent])
      }
    }
  }

  @Test(
    "carries a cookie without a path within the folder of the address that has set it",
    arguments: [
      ("/a/b?c=/d/", "/a/e", true), ("/a/b", "/a/c/d", true), ("/a/b", "/a", true), ("/a/b", "/c", false),
      ("/a/b", "/ab", false), ("/a", "/c/d", true),
    ] as [(String, String, Bool)])
  func defaultPath(first: String, second: String, isSent: Bool) async throws {
    try await FaultServer.with { server in
      server.respond { request in
        request.target == first
          ? FaultResponse(status: 302, headers: [("Location", second), ("Set-Cookie", "seen=1")]) : FaultResponse()
      }
      try await OutgoingClientTests.withClient { client in
        _ = try await client.send(OutgoingRequest(url: try OutgoingURL("http://feeds.example:\(server.port)\(first)")))
        #expect(server.requests.map { $0["Cookie"] } == [nil, isSent ? "seen=1" : nil])
      }
    }
  }

  @Test(
    "carries a cookie between a host and the same host with www, if it is for both",
    arguments: [
      ("feeds.example", "www.feeds.example", "feeds.example", true),
      ("www.feeds.example", "feeds.example", ".feeds.example", true),
      ("feeds.example", "www.feeds.example", "", false), ("feeds.example", "a.feeds.example", "feeds.example", false),
      ("a.feeds.example", "feeds.example", "feeds.example", false),
      ("a.feeds.example", "b.feeds.example", "example", false),
      ("www.feeds.example", "www.example", "example", false),
      ("feeds.example", "feeds.example", "ds.example", false), ("feeds.example", "feeds.example", "", true),
    ])
  func domains(first: String, second: String, domain: String, isSent: Bool) async throws {
    try await FaultServer.with { server in
      let port = server.port
      server.respond { request in
        request.path == "/1"
          ? FaultResponse(
            status: 302,
            headers: [("Location", "http://\(second):\(port)/2"), ("Set-Cookie", "seen=1; Domain=\(domain); Path=/")])
          : FaultResponse()
      }
      try await OutgoingClientTests.withClient { client in
        _ = try await client.send(OutgoingRequest(url: try OutgoingURL("http://\(first):\(port)/1")))
        #expect(server.requests.map { $0["Cookie"] } == [nil, isSent ? "seen=1" : nil])
      }
    }
  }

  @Test("carries the cookies of its own host only, also if another host has set one with the same name")
  func hosts() async throws {
    try await FaultServer.with { server in
      let port = server.port
      server.respond { request in
        switch request.path {
        case "/1":
          FaultResponse(
            status: 302, headers: [("Location", "http://other.example:\(port)/2"), ("Set-Cookie", "seen=1; Path=/")])
        case "/2":
          FaultResponse(
            status: 302, headers: [("Location", "http://feeds.example:\(port)/3"), ("Set-Cookie", "seen=2; Path=/")])
        default: FaultResponse()
        }
      }
      try await OutgoingClientTests.withClient { client in
        _ = try await client.send(OutgoingRequest(url: try OutgoingURL("http://feeds.example:\(port)/1")))
        #expect(server.requests.map { $0["Cookie"] } == [nil, nil, "seen=1"])
      }
    }
  }

  @Test("may be a page that leads on. It is checked and counted like any other, and never permanent")
  func pages() async throws {
    let lookup: NameResolver.Lookup = { host, port in
      [try SocketAddress(ipAddress: host == "internal.example" ? "127.0.0.2" : "127.0.0.1", port: port)]
    }
    try await FaultServer.with { server in
      let port = server.port
      server.respond { request in
        switch request.path {
        case "/old": FaultResponse(status: 301, headers: [("Location", "/page")])
        case "/page": FaultResponse(body: Data("/new".utf8))
        case "/new": FaultResponse(status: 301, headers: [("Location", "/end")])
        case "/inside": FaultResponse(body: Data("http://internal.example:\(port)/".utf8))
        case "/loop": FaultResponse(body: Data((request.target + (request.target == "/loop" ? "?" : "x")).utf8))
        default: FaultResponse(body: Data("\(request.target)".utf8))
        }
      }
      try await OutgoingClientTests.withClient(lookup: lookup) { client in
        @Sendable func send(_ path: String) async throws -> OutgoingResponse {
          let url = try OutgoingURL("http://feeds.example:\(port)\(path)")
          return try await client.send(OutgoingRequest(url: url)) { String(decoding: $0.body, as: UTF8.self) }
        }
        let response = try await send("/old")
        #expect(response.url.text.hasSuffix("/end") && response.movedTo?.text.hasSuffix("/page") == true)
        // This one names itself.
        #expect(try await send("/end").status == 200)
        await #expect(throws: OutgoingError.tooManyRedirects(5)) { try await send("/loop") }
        await #expect(throws: OutgoingError.refused("internal.example has a loopback address, which is not allowed")) {
          try await send("/inside")
        }
      }
    }
  }
}
