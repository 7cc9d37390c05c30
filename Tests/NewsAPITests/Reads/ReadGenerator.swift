import Foundation
import TestKit

/// A generator of reads, mostly of cached resources, with all kinds of conditions, one or several per connection.
struct ReadGenerator {
  var items: [UUID] = []
  var token = ""
  private var tags: [String] = []
  private var dates: [String] = []

  /// Stores validators for later conditions.
  mutating func learn(from lines: [String]) {
    for line in lines {
      if line.hasPrefix("ETag: ") { tags.append(String(line.dropFirst(6))) }
      if line.hasPrefix("Last-Modified: ") { dates.append(String(line.dropFirst(15))) }
    }
    tags = tags.suffix(40)
    dates = dates.suffix(5)
  }

  mutating func connection(using random: inout SplitMix64) -> (Data, count: Int) {
    let count = Int.random(in: 1...6, using: &random)
    return (Data((0..<count).map { _ in request(using: &random) }.joined().utf8), count)
  }

  /// Returns a request without a body.
  func request(using random: inout SplitMix64) -> String {
    func pick(_ values: [String]) -> String { values.randomElement(using: &random) ?? "" }
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    let id = items.suffix(5).randomElement(using: &random).map {
      chance(80) ? $0.uuidString.lowercased() : $0.uuidString
    }
    var text = chance(85) ? "GET" : pick(["HEAD", "OPTIONS", "POST"])
    text +=
      " "
      + (chance(60)
        ? pick(Self.targets)
        : pick([
          "/v1/items/\(id ?? "")", "/v1/items/\(id ?? "")?include=html", "/v1/changes?since=\(token)",
          "/v1/changes?since=\(token)&topics=a", "/v1/changes?limit=3&since=\(token)", "/v1/items?at=\(token)",
          "/items/\(id ?? "")", "/items/\(id ?? "")?utm_source=x",
        ]))
    text += " HTTP/1.\(chance(97) ? "1" : "0")\r\nHost: \(chance(97) ? "localhost" : "a b")\r\n"
    if chance(55) {
      var tag = pick(tags)
      if chance(20) { tag = "W/" + tag }
      if chance(20) { tag = "\"x\", " + tag }
      text += "\(pick(["If-None-Match", "if-none-match"])): \(chance(93) ? tag : pick(["*", "x", "\"token\"", ""]))\r\n"
    }
    if chance(15) { text += "If-Modified-Since: \(chance(80) ? pick(dates) : "yesterday")\r\n" }
    if chance(60) { text += "Accept-Encoding: \(pick(Self.codings))\r\n" }
    if chance(3) { text += "If-Match: \(pick(tags))\r\n" }
    if chance(3) {
      text +=
        pick([
          "If-None-Match: \"y\"", "Connection: close", "Range: bytes=0-1",
          "X-Long: \(String(repeating: "x", count: 17_000))",
        ]) + "\r\n"
    }
    if chance(10) {
      text +=
        pick(["Connection: keep-alive", "Cookie: a=b", "Authorization: Bearer x", "Cache-Control: no-cache"]) + "\r\n"
    }
    return text + "\r\n"
  }

  private static let targets = [
    "/v1/items", "/v1/items", "/v1/items?limit=20", "/v1/items?limit=050", "/v1/items?topics=a", "/v1/items?topics=a,b",
    "/v1/items?limit=100&topics=sport", "/v1/items?topics=sport&limit=100", "/v1/items?include=html",
    "/v1/items?limit=2",
    "/v1/items?topics=nowhere", "/v1/items?limit=0", "/v1/items?limit=20&limit=20", "/v1/items/", "/v1/state",
    "/v1/state?topics=a", "/v1/state?topics=b,a", "/v1/topics", "/v1/topics/sport", "/v1/topics/x", "/v1/changes",
    "http://localhost/v1/items", "/", "/?utm_source=x", "/topics/sport", "/topics/x", "/?before=x", "/?after=",
    "/feed.json", "/feed.atom", "/feed.rss", "/topics/a/feed.atom", "/topics/b/feed.json",
    "/topics/x/feed.rss", "/feed.atom?archive=1", "/feed.rss?archive=0", "/topics/a/feed.atom?limit=1", "/feed.xml",
  ]
  private static let codings = ["gzip", "gzip, deflate, br", "identity", "gzip;q=0", "*;q=0", "br"]
}
