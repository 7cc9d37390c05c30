import News
import Testing

@Suite struct WebLinkTests {
  @Test(
    "The scheme is written in lower case, and everything else stays as it is",
    arguments: [
      ("https://news.example/a?b=c#d", "https://news.example/a?b=c#d"),
      ("HTTPS://News.example/A%20b", "https://News.example/A%20b"),
    ])
  func normalised(text: String, link: String) {
    #expect(WebLink.normalised(text) == link)
  }

  @Test(
    "An address without a host, of another scheme or with spaces is none",
    arguments: [
      "", "/a", "https:", "https:/a", "https:///a", "https://:443/a", "ftp://news.example/a", "javascript:alert(1)",
      "https://news.example/a b", " https://news.example/", "https://news.example/\u{7f}", "https://news.example/\n",
    ])
  func refused(text: String) {
    #expect(WebLink.normalised(text) == nil)
  }

  @Test("A link has 2048 bytes at most")
  func length() {
    let start = "https://news.example/"
    let longest = start + String(repeating: "a", count: 2048 - start.utf8.count)
    #expect(WebLink.normalised(longest) == longest)
    #expect(WebLink.normalised(longest + "a") == nil)
  }
}
