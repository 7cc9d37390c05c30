import OutgoingHTTP
import Testing

@Suite struct OutgoingURLTests {
  /// An address of a number of bytes.
  private static func long(_ count: Int) -> String {
    let start = "https://a.example/"
    return start + String(repeating: "x", count: count - start.utf8.count)
  }

  private static func label(_ count: Int) -> String { String(repeating: "a", count: count) }

  /// A host name of a number of bytes.
  private static func name(_ count: Int) -> String {
    let labels = Array(repeating: label(49), count: 4).joined(separator: ".")
    return "\(labels).\(label(count - labels.utf8.count - 1))"
  }

  @Test(
    "An address has one normal form",
    arguments: [
      ("HTTPS://Feeds.Example:443#top", "https://feeds.example/"),
      ("http://feeds.example:80/a?b#c", "http://feeds.example/a?b"),
      ("https://feeds.example./x", "https://feeds.example/x"),
      ("https://feeds.example:8443/x", "https://feeds.example:8443/x"),
      ("https://m\u{FC}ller.example/feed", "https://xn--mller-kva.example/feed"),
      ("https://feeds.example/a%20b|c?\u{FC}=%41", "https://feeds.example/a%20b%7Cc?%C3%BC=%41"),
      ("https://feeds.example/%zz%4", "https://feeds.example/%25zz%254"),
      ("https://feeds.example/%zz%20", "https://feeds.example/%25zz%20"),
      ("https://[2606:4700:0:0::1111]/", "https://[2606:4700::1111]/"),
      ("https://93.184.216.34/", "https://93.184.216.34/"),
      ("https://a.example/?u=https://b.example/", "https://a.example/?u=https://b.example/"),
      ("https://a.example:1/", "https://a.example:1/"), ("https://a.example:65535/", "https://a.example:65535/"),
      ("https://a.example:/", "https://a.example/"), ("https://a_b-c.example/", "https://a_b-c.example/"),
      (long(2048), long(2048)),
      ("https://\(label(63)).example/", "https://\(label(63)).example/"),
      ("https://\(name(253))/", "https://\(name(253))/"),
    ])
  func normalForm(text: String, expected: String) throws {
    #expect(try OutgoingURL(text).text == expected)
  }

  @Test(
    "Addresses that programs read differently are refused",
    arguments: [
      "https://2130706433/", "https://127.1/", "https://0x7f.0.0.1/", "https://0x7f000001/", "https://0177.0.0.1/",
      "https://127.0.0.0x1/", "https://127.0.0.1.2/", "https://1.2.3.999/", "https://[fe80::1%25eth0]/",
      "https://[fe80::1%eth0]/", "https://user@feeds.example/", "https://user:secret@feeds.example/",
      "https://feeds.example\\@other.example/", "https://feeds.example/a\\b",
      "https://exa%2fmple.com/", "https://a..example/", "https:///x",
      "https://feeds.example:0/", "https://feeds.example:99999/", "https://feeds.example:99999999999999999999/",
      "ftp://feeds.example/", "file:///etc/passwd",
      "//feeds.example/", "feeds.example", "", "https://feeds.example/a b", "https://feeds.example/\r\nX: y",
      "gopher://127.0.0.1:6379/_x", "https://a\u{0}.example/", "https://feeds.example:18446744073709551616/",
      "https://feeds.example:18446744073709551616", "https://[2606:4700::1111]:18446744073709551616?x",
      "https://feeds.example:65536/", "https://feeds.example:-1/", "https://feeds.example/a\u{7F}", long(2049),
      "https://\(label(64)).example/", "https://\(name(254))/",
    ])
  func refused(text: String) {
    #expect(throws: OutgoingError.self) { try OutgoingURL(text) }
  }

  @Test(
    "A user and a password are taken out of an address",
    arguments: [
      ("https://u:p@a.example/x", "https://a.example/x", "u", "p"),
      ("https://u@a.example", "https://a.example", "u", nil),
      ("https://u%40x:p%3Aq%zz@a.example:81/", "https://a.example:81/", "u@x", "p%3Aq%zz"),
      ("https://u%40x:p%3Aq@a.example/", "https://a.example/", "u@x", "p:q"),
      ("https://u:p:q@a.example/", "https://a.example/", "u", "p:q"),
      ("https://u:@a.example/", "https://a.example/", "u", ""),
      ("https://:p@a.example/", "https://a.example/", "", "p"),
      ("https://u@v:p@a.example/", "https://a.example/", "u@v", "p"),
    ] as [(String, String, String, String?)])
  func separation(text: String, address: String, user: String, password: String?) throws {
    let parts = try #require(OutgoingURL.separated(text))
    #expect(parts.text == address && parts.user == user && parts.password == password)
  }

  @Test(
    "An address without a user stays as it is",
    arguments: [
      "https://a.example/", "https://a.example/u:p@x", "https://a.example?u:p@x", "https://a.example#u@x",
      "u:p@a.example", "mailto:u@a.example", "",
    ])
  func noUser(text: String) {
    #expect(OutgoingURL.separated(text) == nil)
  }

  @Test("The origin of an address has its scheme, its host and a port that is not the usual one")
  func origin() throws {
    #expect(try OutgoingURL("https://a.example:443/x?y").origin == "https://a.example")
    #expect(try OutgoingURL("http://a.example:8080/x").origin == "http://a.example:8080")
    #expect(try OutgoingURL("http://[2606:4700::1]/").origin == "http://[2606:4700::1]")
  }

  @Test("A name in full-width digits is read as the address that it becomes")
  func fullWidth() throws {
    #expect(try OutgoingURL("https://\u{FF11}27.0.0.1/").text == "https://127.0.0.1/")
  }

  @Test(
    "A redirect may be relative",
    arguments: [
      ("/x", "https://feeds.example/x"), ("y?z", "https://feeds.example/a/y?z"),
      ("//other.example/", "https://other.example/"), ("http://other.example/", "http://other.example/"),
      ("?p=2", "https://feeds.example/a/b?p=2"),
    ])
  func relative(location: String, expected: String) throws {
    #expect(try OutgoingURL(location, relativeTo: OutgoingURL("https://feeds.example/a/b?c")).text == expected)
  }
}
