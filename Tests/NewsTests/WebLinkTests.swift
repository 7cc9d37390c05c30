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

  @Test(
    "A port is 1...65535, and a host has no characters that belong elsewhere",
    arguments: [
      "http://10.1.2.3:99999/a", "https://a:0/", "https://a:65536", "https://a:18446744073709551616/x",
      "https://[::1]:70000/", "https://u@a:99999?b", "https://%5b%5d/", "https://[]/", "https://a%0d%0ab/",
      "https://%00/",
      "https://1.2.3.4%3a99999/", "https://[fe80::1%25eth0]/", "https://[v1.x]/",
      "https://\(String(repeating: "a.", count: 150))example/",
    ])
  func authority(text: String) {
    #expect(WebLink.normalised(text) == nil)
  }

  @Test(
    "Other ports and hosts are accepted",
    arguments: [
      "https://a:/", "https://a:1", "https://a:65535?b", "https://u:1@a/", "https://a/:99999", "https://a?:0",
      "https://a#:0",
      "https://[2001:db8::1]:8443/x", "https://b\u{FC}cher.example:80/", "https://under_score.example/",
    ])
  func accepted(text: String) {
    #expect(WebLink.normalised(text) == text)
  }

  @Test("A link has at most 2048 bytes")
  func length() {
    let start = "https://news.example/"
    let longest = start + String(repeating: "a", count: 2048 - start.utf8.count)
    #expect(WebLink.normalised(longest) == longest)
    #expect(WebLink.normalised(longest + "a") == nil)
  }
}
