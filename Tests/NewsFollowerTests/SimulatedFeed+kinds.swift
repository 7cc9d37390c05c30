import FaultServer
import Foundation

extension SimulatedFeed.Kind {
  private typealias Response = @Sendable (Call) -> FaultResponse

  private static func good(
    _ name: String, hint: Double = 0, channel: String = "", role: Role = .good, _ respond: @escaping Response
  ) -> Self {
    Self(name: name, role: role, hint: hint, channel: channel) { (respond($0), 0) }
  }

  /// Feeds that work, with every form of validators, framing, hints and redirects.
  static let working: [Self] = validated + hinted + framed

  private static let validated: [Self] = [
    good("entity tags") { call in
      call.request["If-None-Match"] == call.feed.tag(call.now)
        ? FaultResponse(status: 304) : call.page.setting("ETag", call.feed.tag(call.now))
    },
    good("dates of modification") { call in
      let date = RetryAfter.date(call.feed.publications(until: call.now).last?.date ?? call.now).fieldValue
      return call.request["If-Modified-Since"] == date
        ? FaultResponse(status: 304) : call.page.setting("Last-Modified", date)
    },
    good("no validators") { $0.page },
    good("a tag that always differs") { $0.page.setting("ETag", "\"\($0.index)\"") },
    good("Atom") { FaultResponse(body: Data($0.feed.atom($0.now).utf8)) },
    good("JSON Feed") { FaultResponse(body: Data($0.feed.jsonFeed($0.now).utf8)) },
    good("no dates", role: .slow) { FaultResponse(body: Data($0.feed.rss($0.now, hasDates: false).utf8)) },
    good("a clock that is a year wrong") { $0.page.dated($0.now + 31_536_000) },
  ]

  private static let hinted: [Self] = [
    good("max-age", hint: 20_000) { $0.page.setting("Cache-Control", "max-age=20000") },
    good("Expires", hint: 20_000) { call in
      call.page.dated(call.now - 1000).setting("Expires", RetryAfter.date(call.now + 19_000).fieldValue)
    },
    good("max-age of a year", hint: 86_400, role: .slow) { $0.page.setting("Cache-Control", "max-age=31536000") },
    good("ttl", hint: 24_000, channel: "<ttl>400</ttl>") { $0.page },
    good(
      "updates four times a day", hint: 21_600,
      channel: "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>"
    ) { $0.page },
    Self(
      name: "hours without polls", role: .slow, skippedHours: [0, 1, 2, 3, 4, 5],
      channel: "<skipHours>\((0...5).map { "<hour>\($0)</hour>" }.joined())</skipHours>"
    ) { ($0.page, 0) },
    Self(
      name: "a day without polls", role: .slow, skippedDay: 4, channel: "<skipDays><day>Wednesday</day></skipDays>"
    ) { ($0.page, 0) },
    Self(name: "busy at times", role: .slow) { call in
      call.index % 3 == 1 ? (.busy(429, retryAfter: .seconds(9000)), 9000) : (call.page, 0)
    },
    Self(name: "broken at times", role: .slow) { call in
      let faults = [
        FaultResponse(status: 500), call.page.truncated(at: .body(300)), call.page.resetting(at: .inHead),
        FaultResponse(status: 404), .captivePortal(), call.page.gzipped(.cut),
      ]
      return (call.index % 2 == 0 ? call.page : faults[call.index / 2 % faults.count], 0)
    },
  ]

  private static let framed: [Self] =
    [CodingFault.plainCalledGzip, .gzipCalledPlain, .gzipCalledBrotli, .unknownCoding, .compressedTwice].map { fault in
      good("\(fault)") { $0.page.gzipped(fault) }
    } + plainlyFramed

  private static let plainlyFramed: [Self] = [
    good("gzip") { $0.page.gzipped() },
    good("chunks") { $0.page.framed(.chunked) },
    good("the end of the connection") { $0.page.framed(.untilClose) },
    good("early hints") { $0.page.afterEarlyHints(3) },
    good("100 Continue") { $0.page.afterContinue() },
    good("many fields") { $0.page.withManyHeaders(50) },
    good("small pieces") { $0.page.dripping(bytes: 500, every: .milliseconds(1)) },
    good("a permanent redirect") { call in
      call.request.path == call.feed.path
        ? FaultResponse(status: 301, headers: [("Location", "\(call.feed.path)/new")]) : call.page
    },
    good("a temporary redirect") { call in
      call.request.path == call.feed.path
        ? FaultResponse(status: 302, headers: [("Location", "\(call.feed.path)/elsewhere")]) : call.page
    },
    good("a page that links to the feed") { call in
      let link = #"<link rel="alternate" type="application/atom+xml" href="\#(call.feed.path)/feed">"#
      return call.request.path == call.feed.path
        ? FaultResponse(headers: [("Content-Type", "text/html")], body: Data("<html><head>\(link)</html>".utf8))
        : call.page
    },
  ]

  private static func bad(
    _ name: String, asks wait: Double = 0, mayRepeat: Bool = false, _ respond: @escaping Response
  ) -> Self {
    Self(name: name, role: .bad, mayRepeat: mayRepeat) { (respond($0), wait) }
  }

  /// Feeds that never work.
  static let broken: [Self] =
    refusing + cut + redirecting
    + [CodingFault.cut, .damaged].map { fault in bad("\(fault)") { $0.page.gzipped(fault) } }
    + FaultResponse.wrongStatusLines.map { line in bad("status line \(line.count)") { $0.page.withStatusLine(line) } }
    + [WrongJSON.cut, .null, .array, .topLevelCut].map { fault in
      bad("JSON \(fault)") { FaultResponse(body: Data($0.feed.jsonFeed($0.now).utf8)).json(fault) }
    }
    + RetryAfter.absurd.map { value in bad("Retry-After \(value)") { _ in .busy(retryAfter: .text(value)) } }

  private static let refusing: [Self] = [
    bad("404") { _ in FaultResponse(status: 404) },
    bad("410", asks: .infinity) { _ in FaultResponse(status: 410) },
    bad("500") { _ in FaultResponse(status: 500) },
    bad("204") { _ in FaultResponse(status: 204) },
    bad("206") { $0.page.setting("Content-Range", "bytes 0-9/10").status(206) },
    bad("503 with a wait", asks: 20_000) { _ in .busy(retryAfter: .seconds(20_000)) },
    bad("429 with a date", asks: 40_000) { .busy(429, retryAfter: .date($0.now + 40_000)).dated($0.now) },
    bad("503 with an old date", asks: 40_000) { .busy(retryAfter: .rfc850Date($0.now + 40_000)).dated($0.now) },
    bad("503 with the date of another clock", asks: 30_000) {
      .busy(retryAfter: .asctimeDate($0.now + 40_000)).dated($0.now + 10_000)
    },
    bad("304 without a condition") { _ in .notModified() },
    bad("a captive portal") { _ in .captivePortal() },
    bad("a captive portal that claims JSON") { _ in .captivePortal(claiming: "application/json") },
    bad("an error as JSON") { _ in .json(#"{"error": "try again"}"#) },
    bad("nothing") { _ in FaultResponse() },
    Self(name: "a private address", role: .bad, host: "private.example") { ($0.page, .infinity) },
    Self(name: "a page that links to itself", role: .bad, mayRepeat: true) { call in
      let link = #"<link rel="alternate" type="application/atom+xml" href="\#(call.feed.path)">"#
      return (FaultResponse(body: Data("<html><head>\(link)</html>".utf8)), 0)
    },
  ]

  private static let cut: [Self] = [
    bad("a truncated body") { $0.page.truncated(at: .body(300)) },
    bad("a truncated body without a length") { $0.page.framed(.untilClose).truncated(at: .body(300)) },
    bad("a truncated chunk") { $0.page.framed(.chunked).truncated(at: .body(300)) },
    bad("an end at the start") { $0.page.truncated(at: .start) },
    bad("a reset in the head") { $0.page.resetting(at: .inHead) },
    bad("a reset in the body") { $0.page.resetting(at: .body(300)) },
    bad("a huge header") { $0.page.withHugeHeader(bytes: 200_000) },
    bad("a huge body") { _ in .huge(bytes: 1 << 20) },
    bad("a bomb") { _ in .gzipBomb(expandingTo: 1 << 26) },
    bad("garbage") { _ in .raw(Data("SSH-2.0-OpenSSH_9.2\r\n".utf8)) },
    bad("broken XML") { $0.page.body { $0.dropLast(20) } },
  ]

  private static let redirecting: [Self] = [
    FaultRedirect.loop, .chase, .missing, .credentials("/x"), .text("file:///etc/passwd"), .text(""),
    .text("http://[::1/"), .text("http://127.0.0.2/"), .text("http://169.254.169.254/latest/meta-data/"),
    .text("http://private.example/"), .text("gopher://feeds.example/"),
  ].enumerated().map { index, redirect in
    bad("redirect \(index)", mayRepeat: true) { .redirect(redirect, from: $0.request, status: 301 + index % 2) }
  }

  /// Feeds whose responses stall, in front of and within the head and the body.
  static let stuck: [Self] = [FaultPoint.start, .inHead, .body(0), .body(3), .start].enumerated().map { index, point in
    Self(name: "stuck \(index)", role: .stuck) { _ in (FaultResponse(body: Data("no feed".utf8)).hanging(at: point), 0)
    }
  }
}

extension FaultResponse {
  /// Returns the response with another status.
  fileprivate func status(_ status: Int) -> FaultResponse {
    var response = self
    response.status = status
    return response
  }
}
