import Foundation
import HTTPEdge
import NetworkAddresses
import News
import NewsAPI
import NewsConsole
import TestSupport
import Testing

/// Requests that are refused before the router.
@Suite struct RefusalPageTests {
  /// Sends bytes and returns the only response.
  private static func exchange(_ request: String, _ console: ConsoleServer) async throws -> TestResponse {
    try #require(try await RawConnection.exchange(request, port: console.server.port).last)
  }

  private static func check(_ response: TestResponse, _ status: Int) throws {
    #expect(response.status == status)
    #expect(response["Content-Type"] == "text/html; charset=utf-8", "\(response.text)")
    #expect(response["Cache-Control"] == "no-store")
    #expect(response["Content-Security-Policy"]?.contains("frame-ancestors 'none'") == true)
    #expect(response["X-Content-Type-Options"] == "nosniff")
    #expect(response["Access-Control-Allow-Origin"] == nil)
    #expect(response["X-Request-Id"]?.isEmpty == false)
    #expect(!response.text.contains("/problems/"))
    let scan = try PageScan(response.text, as: .console)
    #expect(scan.accessibilityProblems == [])
    #expect(scan.addresses.contains("/console"))
  }

  @Test("A browser with too many requests gets a page of the console, and a program the problem")
  func tooManyRequests() async throws {
    let proxy = try #require(IPNetwork("127.0.0.1"))
    try await ConsoleServer.with(settings: {
      $0.publicURL = "https://news.example"
      $0.trustedProxies = TrustedProxies([proxy])
      $0.requestsPerAddress = 2
    }) { console in
      let client = ("X-Forwarded-For", "198.51.100.1")
      let browser = console.browser([client])
      for _ in 0..<2 { #expect(try await browser.get("/console/sign-in").status == 200) }
      for target in ["/console", "/console/sign-in?next=x", "/console/assets/x.css", "/console/nothing"] {
        let request = "GET \(target) HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.1\r\n\r\n"
        let refused = try await Self.exchange(request, console)
        #expect(1...30 ~= Int(refused["Retry-After"] ?? "") ?? 0)
        try Self.check(refused, 429)
        #expect(refused.text.contains("Too many requests"))
      }
      let head = try await browser.send("HEAD", "/console/items", [], nil)
      #expect(head.status == 429 && head.text.isEmpty)
      for target in ["/v1/items", "/consoles"] {
        let problem = try await console.browser([client]).get(target)
        #expect(problem.status == 429 && problem["Content-Type"] == "application/problem+json", "\(target)")
        #expect(problem["Access-Control-Allow-Origin"] == "*", "\(target)")
      }
    }
  }

  @Test(
    "Requests that are no valid HTTP get a page of the console if their path is known",
    arguments: [
      (400, "Host: a b\r\n"), (400, "Host: a\r\nHost: a\r\n"), (400, ""),
      (400, "Host: a\r\nTransfer-Encoding: x\r\n"), (501, "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n"),
      (417, "Host: a\r\nExpect: x\r\n"), (431, "Host: a\r\nCookie: \(String(repeating: "a", count: 20_000))\r\n"),
    ])
  func invalid(status: Int, fields: String) async throws {
    try await ConsoleServer.with { console in
      for target in ["/console/items?q=x", "http://news.example/console/items"] {
        let response = try await Self.exchange("GET \(target) HTTP/1.1\r\n\(fields)\r\n", console)
        try Self.check(response, status)
        // No sentence about files, or about an error that was logged.
        #expect(!response.text.contains("stores no files") && !response.text.contains("It was logged"))
      }
      let other = try await Self.exchange("GET /v1/items HTTP/1.1\r\n\(fields)\r\n", console)
      #expect(other.status == status && other["Content-Type"] == "application/problem+json")
    }
  }

  @Test("A header that is too long to be read at all, and a request without a path, get the problem")
  func unknownPath() async throws {
    try await ConsoleServer.with { console in
      let long = "GET /console/items HTTP/1.1\r\nHost: a\r\nCookie: \(String(repeating: "a", count: 40_000))\r\n\r\n"
      for (request, status) in [(long, 431), ("GET /console/items HTTP/9.9\r\nHost: a\r\n\r\n", 505)] {
        let response = try await Self.exchange(request, console)
        #expect(response.status == status && response["Content-Type"] == "application/problem+json")
      }
    }
  }

  @Test("A form that is larger than allowed gets a page of the console, before its body is read")
  func tooLarge() async throws {
    try await ConsoleServer.with { console in
      let request = """
        POST /console/sign-in HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n\
        Content-Length: 10000000\r\n\r\n
        """
      try Self.check(try await Self.exchange(request, console), 413)
    }
  }

  @Test("Without a console, its paths have the problems of the API")
  func withoutConsole() async throws {
    try await TestServer.with(settings: { $0.requestsPerAddress = nil }) { server in
      for (request, status) in [
        ("GET /console/items HTTP/1.1\r\nHost: a b\r\n\r\n", 400), ("GET /console HTTP/1.1\r\nHost: a\r\n\r\n", 404),
      ] {
        let response = try #require(try await RawConnection.exchange(request, port: server.port).first)
        #expect(response.status == status && response["Content-Type"] == "application/problem+json")
      }
    }
  }
}
