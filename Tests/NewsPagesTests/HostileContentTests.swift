import Foundation
import News
import NewsPages
import TestSupport
import Testing

/// Stored texts that try to become markup or script, in every field that a page shows.
@Suite struct HostileContentTests {
  private static let texts = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)",
    "\" onmouseover=\"alert(1)", "\"\u{301} onmouseover=alert(1) x=\"", "<\u{20D2}script>alert(1)</script>",
    "</title><script>alert(1)</script>", "<!--", "--><svg onload=alert(1)>", "]]><script>", "&lt;script&gt;",
    "&#60;script&#62;", "{{{body}}}{{#t}}{{skip}}{{/t}}", "javascript:alert(1)", "jav\tascript:alert(1)",
    "JaVaScRiPt:alert(1)//https://a.example", "data:text/html,<script>alert(1)</script>", "vbscript:x",
    "https://a.example/\"onclick=alert(1)", "https://a.example/?<script>alert(1)</script>", "//evil.example/x",
    "/v1/media/\"onerror=alert(1)", "/v1/../javascript:alert(1)", "https://news.example.evil.example/x",
    "\u{0}<script>", "\u{2028}<script>alert(1)</script>", "<a href=javascript:alert(1)>x</a>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>", "<style>*{display:none}</style>", "+ADw-script+AD4-",
    "http://a.example/' onclick='x", "<iframe srcdoc=\"<script>alert(1)</script>\">",
  ]

  private static func item(_ text: String) -> NewsItem {
    func attachment(_ type: String, url: String) -> News.Attachment {
      Attachment(url: url, type: type, alt: text, caption: text, credit: text)
    }
    var item = NewsItem(
      id: UUID(), version: 1, date: Date(timeIntervalSince1970: 0), text: text, title: text, summary: text, html: text,
      topics: [text, "known"], language: text, url: text, author: text, breaking: true,
      updated: Date(timeIntervalSince1970: 0))
    for type in ["image/png", "audio/mpeg", "video/mp4", text] {
      item.attachments += [attachment(type, url: text), attachment(type, url: "https://a.example/x")]
    }
    return item
  }

  @Test("No text becomes markup, and no address runs or leads to another scheme", arguments: texts)
  func stored(text: String) throws {
    let topics = [
      PageTopic(slug: "known", titles: ["en": text]), PageTopic(slug: "other", titles: [text: text]),
      PageTopic(slug: text, titles: [:]),
    ]
    for site in [PageSite(publicURL: "https://news.example", feeds: SampleFeeds.all), PageSite()] {
      let renderer = PageRenderer(site)
      let item = Self.item(text)
      var pages = [renderer.page(of: item, topics: topics), renderer.errorPage(status: 410, detail: text)]
      for html in [
        nil, "<p>\(text)</p>", "<h1 title=\"\(text)\">x</h1><img alt=\"\(text)\" src=\"https://a.example/b\">",
      ] {
        var other = item
        (other.html, other.title) = (html, nil)
        pages.append(renderer.page(of: other, topics: topics))
        pages.append(
          renderer.page(
            of: PageRenderer.List(topic: "known", isContinued: true, older: text, newer: text, query: text),
            items: [item, other], topics: topics))
      }
      for source in pages {
        // Everything that is not the expected markup is an error.
        let page = try PageScan(source)
        for address in page.addresses {
          let isOwn = address.hasPrefix("/") && !address.hasPrefix("//") || address.hasPrefix("#")
          #expect(isOwn || address.hasPrefix("https://") || address.hasPrefix("http://"), "\(address)")
        }
        for name in ["img", "audio", "video"] {
          for tag in page.all(name) {
            let address = try #require(tag["src"])
            #expect(address.hasPrefix("/v1/") || address.hasPrefix("https://"), "\(address)")
          }
        }
      }
    }
  }

  @Test("The library's escaping alone would let a quotation mark before a combining character pass")
  func combiningCharacters() throws {
    let templates = try TemplateSet([
      ("a.mustache", "<a title=\"{{x}}\">{{>b}}</a>"), ("b.mustache", "{{x}}{{^y}}{{x}}{{/y}}"),
    ])
    var values = PageValues()
    values.set("x", "\"\u{301}<\u{301}")
    let escaped = "&quot;\u{301}&lt;\u{301}"
    let expected = "<a title=\"\(escaped)\">\(escaped)\(escaped)</a>"
    #expect(Array(templates.render("a", values).utf8) == Array(expected.utf8))
  }
}
