import SafeHTML
import Testing

@Suite struct `Links of unknown origin` {
  @Test(arguments: [
    ("https://a.example/a%2Fb c", "https://a.example/a%2Fb%20c"),
    ("https://a.example/%E4%BD%A0/[1]", "https://a.example/%E4%BD%A0/%5B1%5D"),
    ("https://a.example/你好/%E4%BD%A0", "https://a.example/%E4%BD%A0%E5%A5%BD/%E4%BD%A0"),
    ("https://a.example/x?q=你 x&y=%20", "https://a.example/x?q=%E4%BD%A0%20x&y=%20"),
    ("https://a.example/x?q=%5B1]#%C3%A4 ö", "https://a.example/x?q=%5B1%5D#%C3%A4%20%C3%B6"),
    ("https://a.example/{id}/%7Bid%7D", "https://a.example/%7Bid%7D/%7Bid%7D"),
    ("https://a.example/a|b^c`d\"e<f>g\\h", "https://a.example/a%7Cb%5Ec%60d%22e%3Cf%3Eg%5Ch"),
    ("https://a.example/a#b#c", "https://a.example/a#b%23c"),
    ("https://a.example/a?b?c/d", "https://a.example/a?b?c/d"),
  ])
  func `Only invalid characters are encoded`(_ written: String, _ link: String) {
    #expect(SafeLink.web(written) == link)
    // Encoding is idempotent.
    #expect(SafeLink.web(link) == link)
  }

  @Test(arguments: [
    "https://a.example/%25", "https://a.example/%e4%BD%a0?%2f=%26#%23", "https://a.example/a+b;c=d,e!$&'()*~",
    "https://xn--bcher-kva.example/", "https://a.example:8080/x", "https://[2001:db8::1]/x", "https://user@a.example/",
  ])
  func `A valid link is unchanged`(_ link: String) {
    #expect(SafeLink.web(link) == link)
  }

  @Test(arguments: [
    ("https://a.example/100%", "https://a.example/100%25"), ("https://a.example/%zz%4", "https://a.example/%25zz%254"),
    ("https://a.example/%%41", "https://a.example/%25%41"),
  ])
  func `A percent sign without two hexadecimal digits is encoded`(_ written: String, _ link: String) {
    #expect(SafeLink.web(written) == link)
  }

  @Test(arguments: [
    ("https://bücher.example/ä%20 b", "https://xn--bcher-kva.example/%C3%A4%20%20b"),
    ("https://例え.テスト/é", "https://xn--r8jz45g.xn--zckzah/%C3%A9"),
    ("https://[::1]:80/[a]", "https://[::1]:80/%5Ba%5D"),
  ])
  func `Hosts in other scripts and IP addresses are kept`(_ written: String, _ link: String) {
    #expect(SafeLink.web(written) == link)
  }

  @Test(arguments: [
    ("../x y%20?z", "https://a.example/x%20y%20?z"), ("?q=a%20 b", "https://a.example/dir/page?q=a%20%20b"),
    ("#%C3 g", "https://a.example/dir/page#%C3%20g"), ("//cdn.example/%41 b", "https://cdn.example/%41%20b"),
    ("/a:b c", "https://a.example/a:b%20c"),
  ])
  func `Relative links are encoded in the same way`(_ written: String, _ link: String) {
    #expect(SafeLink.web(written, base: "https://a.example/dir/page") == link)
  }

  @Test(arguments: [
    "https://a b.example/", "https:a b", "http:/x y", "javascript:alert(1)%20 x", "data:text/html,<b> %20",
    "http://10.1.2.3:99999/a", "https://a:0/", "https://a:65536", "https://a:18446744073709551616?x",
    "https://[::1]:70000/",
    "//a:99999/x",
  ])
  func `An invalid host or another scheme is rejected`(_ written: String) {
    #expect(SafeLink.web(written) == nil)
  }

  @Test func `Links to mail addresses are encoded in the same way`() {
    let html = SafeHTML("<a href=\"mailto:a@b.example?subject=a%20b c\">x</a>").html
    #expect(html == "<a href=\"mailto:a@b.example?subject=a%20b%20c\">x</a>")
  }

  @Test(arguments: ["_blank", "_top", "other"])
  func `The target of a link is removed`(_ target: String) {
    let html = SafeHTML("<a href=\"https://a.example/\" target=\"\(target)\" rel=\"opener\">x</a>").html
    #expect(html == "<a href=\"https://a.example/\">x</a>")
  }
}
