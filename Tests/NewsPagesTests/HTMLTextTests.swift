import Foundation
import NewsPages
import Testing

@Suite struct HTMLTextTests {
  @Test(
    "Characters with a meaning in HTML are escaped, also before combining characters",
    arguments: [
      ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"), ("\"\u{301} onclick=x", "&quot;\u{301} onclick=x"),
      ("<\u{20D2}img", "&lt;\u{20D2}img"), ("a\u{301} é", "a\u{301} é"), ("", ""),
    ])
  func escaping(text: String, expected: String) {
    #expect(Array(HTMLText.escaped(text).utf8) == Array(expected.utf8))
  }

  @Test(
    "A text becomes paragraphs, with its line breaks",
    arguments: [
      ("one", "<p>one</p>"), ("one\ntwo", "<p>one<br>\ntwo</p>"), ("one\n\n \n two \r\n", "<p>one</p>\n<p>two</p>"),
      ("one\r\ntwo\r\n\r\nthree", "<p>one<br>\ntwo</p>\n<p>three</p>"), (" \n ", ""), ("a < b", "<p>a &lt; b</p>"),
    ])
  func paragraphs(text: String, expected: String) {
    #expect(HTMLText.paragraphs(text) == expected)
  }

  @Test(
    "Web addresses become links without the punctuation around them",
    arguments: [
      ("See https://a.example/x.", "https://a.example/x"), ("(https://a.example/b_(c))", "https://a.example/b_(c)"),
      ("HTTPS://a.example, and", "HTTPS://a.example"),
      ("<https://a.example/?a=1&b=2>", "https://a.example/?a=1&amp;b=2"),
      ("„https://a.example/grün“", "https://a.example/grün"), ("https://a.example/x?!", "https://a.example/x"),
      ("https://a.example/\"onclick=x", "https://a.example/"),
    ])
  func links(text: String, address: String) {
    let html = HTMLText.paragraphs(text)
    let shown = address.replacing("HTTPS", with: "https")
    #expect(html.contains("<a href=\"\(shown)\" rel=\"nofollow noopener\">\(address)</a>"), "\(html)")
  }

  @Test(
    "Other addresses stay text",
    arguments: ["javascript:alert(1)", "https://", "http:///x", "xhttps://a.example", "ftp://a.example", "//a.example"])
  func noLinks(text: String) {
    #expect(!HTMLText.paragraphs(text).contains("<a"))
  }

  @Test(
    "Texts made to take long are rendered in time that grows with their length",
    arguments: [
      "http://", "https://a.example/))))", "e\u{301}", "\u{301}", "http://a.example/(((", "<",
    ])
  func cost(part: String) {
    let text = String(repeating: part, count: 262_144 / part.utf8.count)
    let start = ContinuousClock.now
    _ = HTMLText.paragraphs(text)
    _ = Excerpt.of(text, limit: 200)
    _ = Excerpt.headline(of: text, limit: 100)
    // Quadratic time would be minutes.
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  @Test(
    "An excerpt is one line that ends after a word",
    arguments: [
      ("a b", "a b"), ("  a \n\n b\t", "a b"), ("one two three", "one two…"), ("abcdefghijklmnop", "abcdefghij…"),
      ("a bcdefghijklm", "a bcdefghi…"), ("", ""), ("ten letter", "ten letter"),
    ])
  func excerpts(text: String, expected: String) {
    #expect(Excerpt.of(text, limit: 10) == expected)
  }

  @Test(
    "The headline of a text without a title is its first sentence or line",
    arguments: [
      ("The ferry is back in port. It left at six.", "The ferry is back in port.", "It left at six."),
      ("Dr. Mara Quill is back in port", "Dr. Mara Quill is back in port", ""),
      ("Ferry\nIt is back.", "Ferry", "It is back."), ("Short.", "Short.", ""),
      (
        "A very long sentence that has no end within the limit of the headline",
        "A very long sentence that has no end…",
        "A very long sentence that has no end within the limit of the headline"
      ),
    ])
  func headlines(text: String, headline: String, rest: String) {
    #expect(Excerpt.headline(of: text, limit: 40) == (headline, rest))
  }

  @Test(
    "The headings of an item follow that of its page without a gap",
    arguments: [
      ("<h1>a</h1><h3>b</h3><h2>c</h2>", "<h2>a</h2><h3>b</h3><h3>c</h3>"),
      ("<h4>a</h4><h4 lang=\"de\">b</h4>", "<h2>a</h2><h2 lang=\"de\">b</h2>"),
      ("<h2>a</h2><h6>b</h6><h2>c</h2>", "<h2>a</h2><h3>b</h3><h2>c</h2>"),
    ])
  func headings(source: String, expected: String) {
    #expect(ItemMarkup(source).html == expected)
  }

  @Test("Markup is sanitised again, and pictures are loaded when they are needed")
  func markup() {
    let markup = ItemMarkup(
      #"<p onclick="x">a<script>x</script><img src="https://a.example/b.jpg" alt="c" onerror="x"><a href="javascript:x">d</a></p>"#
    )
    #expect(markup.html.contains(#"<img loading="lazy" decoding="async" src="https://a.example/b.jpg" alt="c"/>"#))
    for word in ["onclick", "script", "onerror", "javascript"] { #expect(!markup.html.contains(word)) }
    #expect(markup.pictures == ["https://a.example/b.jpg"])
  }

  @Test("Footnotes work on the page, and their names are not those of the page")
  func footnotes() {
    let written = ##"<h1 id="files"><a href="#main">1</a></h1><p id="main"><a href="#files">back</a></p>"##
    let stored = written.replacing("id=\"", with: "id=\"user-content-").replacing("#", with: "#user-content-")
    #expect(ItemMarkup(written).html == ItemMarkup(stored).html)
    #expect(
      ItemMarkup(stored).html == ##"<h2 id="user-content-files"><a href="#user-content-main">1</a></h2>"##
        + ##"<p id="user-content-main"><a href="#user-content-files">back</a></p>"##)
  }
}
