import NewsFeeds
import Testing

@Suite("Tags in texts")
struct WrittenTagTests {
  private func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// Reads a text as title and description of RSS and as the title of Atom, in which it has the type `html`.
  private func read(_ text: String) throws -> (title: String?, text: String, atom: String?) {
    let item = try entry(
      rss(
        "<item><guid>1</guid><pubDate>2026-01-01</pubDate><title>\(escaped(text))</title>"
          + "<description>\(escaped(text))</description></item>"))
    let other = try entry(
      atom("<entry><id>1</id><updated>2026-01-01</updated><title type='html'>\(escaped(text))</title></entry>"))
    return (item.title, item.text, other.title)
  }

  @Test(
    "are words where they do not act",
    arguments: [
      "When <script> tags block, use <link>", "The <title> element and <style> rules: what changed",
      "How should <selectedoption> work?", "List<String> and Map<K, V> in Java", "Use <b> not <strong>", "<3 Harbour",
      "The <iframe> tag is blocked by <script> rules. Read on.", "a<b and c>d", "std::vector<b> and <i>",
      "Why (<br>) breaks", "\u{201C}<p>\u{201D} considered harmful", "x <!-- open", "Is <textarea> dead?",
      "Do you need <!DOCTYPE html>?", "<noscript> explained", "1 < 2 > 0", "</p> or not",
    ])
  func words(text: String) throws {
    let found = try read(text)
    #expect(found.title == text)
    #expect(found.text == text)
    #expect(found.atom == text)
  }

  @Test(
    "are markup where they act",
    arguments: [
      ("<b>Bold</b> news", "Bold news"), ("A <em>very</em> good <a href='x'>link</a>", "A very good link"),
      ("AT&amp;T", "AT&T"), ("First<br>Second", "First\nSecond"), ("H<sub>2</sub>O", "H2O"),
      ("<p>One<p>Two", "One\n\nTwo"), ("<i>Cut off here", "Cut off here"),
      ("<b>Use</b> <script> and <Foo> now", "Use <script> and <Foo> now"), ("a < b &amp;amp; c", "a < b &amp; c"),
    ])
  func markup(text: String, plain: String) throws {
    let found = try read(text)
    let line = plain.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(found.text == plain)
    #expect(found.title == line)
    #expect(found.atom == line)
  }

  @Test("are words in titles, and markup in texts, if only texts have such elements")
  func elements() throws {
    let found = try read("Why <script>alert(1)</script> is bad")
    #expect(found.title == "Why <script>alert(1)</script> is bad")
    #expect(found.text == "Why is bad")
    #expect(try read("safe<script src='x'>y()</script>").title == "safe")
    #expect(try read("x <br /> y").title == "x <br /> y")
    #expect(try read("x <br /> y").text == "x\ny")
    #expect(try read("one <br> two <br> three").text == "one\ntwo\nthree")
  }

  @Test("are markup in a body that begins with a paragraph or a document type")
  func bodies() throws {
    #expect(try read("<p> The pier.").text == "The pier.")
    #expect(try read("<!DOCTYPE html><p>The pier.").text == "The pier.")
    #expect(try read("<!-- note -->The pier.").text == "The pier.")
  }
}
