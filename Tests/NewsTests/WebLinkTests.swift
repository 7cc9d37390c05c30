import News
import Testing

@Suite struct WebLinkTests {
  @Test(
    "The scheme becomes lower case, and the rest stays unchanged",
    arguments: [
      ("https://news.example/a?b=c#d", "https://news.example/a?b=c#d"),
      ("HTTPS://News.example/A%20b", "https://News.example/A%20b"),
    ])
  func normalised(text: String, link: String) {
    #expect(WebLink.normalised(text) == link)
  }

  @Test(
    "A URL without a host, with another scheme or with spaces is rejected",
    arguments: [
      "", "/a", "https:", "https:/a", "https:///a", "https://:443/a", "ftp://news.example/a", "javascript:alert(1)",
      "https://news.example/a b", " https://news.example/", "https://news.example/\u{7f}", "https://news.example/\n",
    ])
  func refused(text: String) {
    #expect(WebLink.normalised(text) == nil)
  }

  @Test("A link has at most 2048 bytes")
  func length() {
    let start = "https://news.example/"
    let longest = start + String(repeating: "a", count: 2048 - start.utf8.count)
    #expect(WebLink.normalised(longest) == longest)
    #expect(WebLink.normalised(longest + "a") == nil)
  }
}
