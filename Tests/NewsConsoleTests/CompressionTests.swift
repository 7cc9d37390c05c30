import Foundation
import News
import NewsStore
import TestSupport
import Testing

@Suite struct CompressionTests {
  /// Reads a page with the session of a browser.
  private static func read(
    _ console: ConsoleServer, _ browser: ConsoleBrowser, _ target: String, _ headers: [(String, String)]
  ) async throws -> TestResponse {
    let cookies = browser.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    return try await TestClient(url: console.server.url).send(
      "GET", target, headers: headers + [("Cookie", cookies)])
  }

  @Test("A page is compressed only if the browser accepts it, and if no other site asks for the page")
  func sites() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let gzip = ("Accept-Encoding", "gzip, br")
      func isCompressed(_ headers: (String, String)...) async throws -> Bool {
        let answer = try await Self.read(console, browser, "/console/items?q=fog", headers)
        #expect(answer.status == 200 && answer["Cache-Control"] == "no-store")
        #expect(answer["Content-Length"] == "\(answer.body.count)")
        let coding = answer["Content-Encoding"]
        let body = coding == nil ? answer.body : try answer.body.gunzipped()
        #expect(String(decoding: body, as: UTF8.self).hasSuffix("</html>\n"))
        return coding == "gzip"
      }
      for site in ["same-origin", "none"] {
        #expect(try await isCompressed(gzip, ("Sec-Fetch-Site", site)), "\(site)")
        #expect(try await !isCompressed(("Sec-Fetch-Site", site)), "\(site)")
        #expect(try await !isCompressed(("Accept-Encoding", "gzip;q=0"), ("Sec-Fetch-Site", site)), "\(site)")
      }
      for site in ["cross-site", "same-site", ""] {
        #expect(try await !isCompressed(gzip, ("Sec-Fetch-Site", site)), "\(site)")
      }
      #expect(try await !isCompressed(gzip))
      #expect(try await !isCompressed(gzip, ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")))
    }
  }

  @Test("Each page has another token, and each token is accepted")
  func tokens() async throws {
    try await ConsoleServer.with { console in
      let browser = try await console.signedIn()
      let forms = [
        try await browser.get("/console/items/new").editor, try await browser.get("/console/items/new").editor,
      ]
      let tokens = forms.compactMap { $0["csrf"] }
      #expect(Set(tokens).count == 2)
      // Neither half is the same: one is random, and the other is combined with it.
      #expect(Set(tokens.map { $0.prefix(40) }).count == 2 && Set(tokens.map { $0.suffix(40) }).count == 2)
      for var form in forms {
        form["text"] = "Fog lifts."
        #expect(try await browser.submit(form, "save").status == 200)
      }
      #expect(try await console.store.editorialItems(EditorialQuery()).items.count == 2)
    }
  }

  @Test("The editor of an item with 30 attachments and a long text takes less than 60 kB with styles and scripts")
  func editor() async throws {
    try await ConsoleServer.with { console in
      let attachments = (1...30).map { number in
        let words = "A ferry of the \(number * 7919 % 97) line passes the pier on a foggy morning"
        let url = "https://pictures.news.example/\(UUID().uuidString.lowercased()).jpg"
        return #"{"url": "\#(url)", "type": "image/jpeg", "bytes": \#(number)734567, "#
          + #""width": 1600, "height": 900, "alt": "\#(words)", "caption": "\#(words), \#(words)", "credit": "Ben"}"#
      }
      // Words of a newsroom's length that do not repeat.
      let words = (1...9_000).map { String($0 * 2_654_435_761 % 1_999_993, radix: 36) }
      let text = words.joined(separator: " ")
      let item = try await console.item(
        #""state": "draft", "text": "\#(text)", "attachments": [\#(attachments.joined(separator: ", "))]"#)
      let browser = try await console.signedIn()
      let headers = [("Accept-Encoding", "gzip"), ("Sec-Fetch-Site", "same-origin")]
      let page = try await Self.read(console, browser, ConsoleServer.path(item), headers)
      let html = String(decoding: try page.body.gunzipped(), as: UTF8.self)
      #expect(html.utf8.count > 90_000 && html.contains(text))
      var size = page.body.count
      for address in Set(html.matches(of: /(?:href|src)="([^"]+\.(?:css|js))"/).map { String($0.1) }) {
        size += try await Self.read(console, browser, address, headers).body.count
      }
      #expect(size < 60_000)
    }
  }
}
