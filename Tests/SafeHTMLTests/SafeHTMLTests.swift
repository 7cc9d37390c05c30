import SafeHTML
import Testing

@Suite("Sanitised markup")
struct SafeHTMLTests {
  private static let base = "https://example.org/blog/post.html"

  @Test(
    "keeps the elements of an article",
    arguments: [
      ("<p>One <em>two</em> <strong>three</strong></p>", "<p>One <em>two</em> <strong>three</strong></p>"),
      ("plain <b>text</b>", "plain <b>text</b>"),
      ("<h2>Head</h2><ul><li>a<li>b</ul>", "<h2>Head</h2><ul><li>a</li><li>b</li></ul>"),
      ("<ol start=\"3\"><li value=4>x</ol>", "<ol start=\"3\"><li value=\"4\">x</li></ol>"),
      ("<dl><dt>t<dd>d</dl>", "<dl><dt>t</dt><dd>d</dd></dl>"),
      ("<blockquote cite=/q>x</blockquote>", "<blockquote cite=\"https://example.org/q\">x</blockquote>"),
      ("<pre><code>a &lt; b\n  c</code></pre>", "<pre><code>a &lt; b\n  c</code></pre>"),
      (
        "<table><tr><th scope=col>h<td colspan=2>x<td></table>",
        "<table><tr><th scope=\"col\">h</th><td colspan=\"2\">x</td><td></td></tr></table>"
      ),
      ("H<sub>2</sub>O<br>x<hr>y", "H<sub>2</sub>O<br/>x<hr/>y"),
      (
        "<figure><img src=a.png alt=A width=10 height=20px><figcaption>c</figcaption></figure>",
        "<figure><img src=\"https://example.org/blog/a.png\" alt=\"A\" width=\"10\" height=\"20\"/>"
          + "<figcaption>c</figcaption></figure>"
      ),
      ("<table><tr><td colspan=0 rowspan=99999>x", "<table><tr><td rowspan=\"99999\">x</td></tr></table>"),
      ("<table><tr><td colspan=100000 rowspan=-1>x", "<table><tr><td>x</td></tr></table>"),
      ("<time datetime=2026-01-01>x</time>", "<time datetime=\"2026-01-01\">x</time>"),
      ("<q lang=de dir=RTL>x</q>", "<q dir=\"rtl\" lang=\"de\">x</q>"),
      ("<q cite='mailto:a@example.org'>x</q>", "<q>x</q>"),
      ("<section>a</section><article>b</article>", "<div>a</div><div>b</div>"),
      ("<tt>x</tt><strike>y</strike><font color=red>z</font>", "<code>x</code><s>y</s>z"),
      ("Grüße, 日本 &eacute;&#x1F600;&nbsp;&amp;lt;", "Grüße, 日本 é😀\u{A0}&amp;lt;"),
      ("it&#146;s", "it’s"),
    ])
  func keeps(source: String, expected: String) {
    #expect(SafeHTML(source, base: Self.base).html == expected)
  }

  @Test(
    "resolves links, and drops unusable ones",
    arguments: [
      ("<a href='/x?a=1&amp;b=2'>y</a>", "<a href=\"https://example.org/x?a=1&amp;b=2\">y</a>"),
      ("<a href='#part'>y</a>", "<a href=\"https://example.org/blog/post.html#part\">y</a>"),
      ("<a href='//cdn.example/x'>y</a>", "<a href=\"https://cdn.example/x\">y</a>"),
      ("<a href=' HTTP://EXAMPLE.com/ä b '>y</a>", "<a href=\"http://EXAMPLE.com/%C3%A4%20b\">y</a>"),
      ("<a href='mailto:a@example.org'>y</a>", "<a href=\"mailto:a@example.org\">y</a>"),
      ("<a name=x>y</a>", "y"),
      ("<a href='/blog/post.html#part'>y</a>", "<a href=\"https://example.org/blog/post.html#part\">y</a>"),
      ("<a href='ftp://example.org/'>y</a>", "y (ftp://example.org/)"),
      ("<a href='http://'>y</a>", "y"),
      ("<img src='mailto:a@example.org'>", ""),
      ("<img alt=x>", "x"),
      ("<img src=/p.gif width=1 height=1>", ""),
    ])
  func links(source: String, expected: String) {
    #expect(SafeHTML(source, base: Self.base).html == expected)
  }

  @Test("drops relative links without a base, and links over 2048 bytes")
  func noBase() {
    #expect(SafeHTML("<a href='/x'>y</a><img src='z.png'>").html == "y")
    let long = "https://example.org/" + String(repeating: "a", count: 2048)
    #expect(SafeHTML("<a href='\(long)'>y</a>").html == "y")
  }

  @Test(
    "writes plain text with the layout of the markup",
    arguments: [
      ("<p>One\n  two</p><p>three</p>", "One two\n\nthree"),
      ("<div>a</div><div>b<span>c</span></div>", "a\nbc"),
      ("a<br>b<br><br><br>c", "a\nb\n\nc"),
      ("<ul><li>a</li>\n<li>b</li></ul>after", "a\nb\n\nafter"),
      ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 2\n3"),
      ("<p>x</p><pre>\n a\n\tb\n</pre><p>y</p>", "x\n\n a\n\tb\n\ny"),
      ("<p>&nbsp;</p><p>Tom &amp; Jerry&nbsp;&lt;3</p>", "Tom & Jerry <3"),
      ("see <img src=https://e.org/a.png alt=picture> here", "see picture here"),
      ("Hi<img src=https://e.org/a.png alt=😀>!", "Hi😀!"),
      ("<img src=https://e.org/a.png title=joke>", "joke"),
      ("<html><head><title>no</title><style>p{}</style></head><script>no()</script>yes", "yes"),
      ("a\u{0}b\u{1}&#1;c&#0;d\u{7F}", "abcd"),
      ("", ""),
      (" \n ", ""),
    ])
  func text(source: String, expected: String) {
    #expect(SafeHTML(source).text == expected)
  }

  @Test("lists each picture once, with its known properties")
  func images() {
    let source = """
      <img src=a.png alt=" A  picture " width=640 height=480><p><img src="a.png"><img src="https://e.org/b.jpg" width="50%">
      text<noscript><img src=c.png></noscript>text<img src="data:image/png;base64,AAAA">
      """
    let images = SafeHTML(source, base: Self.base).images
    #expect(
      images.map(\.url) == ["https://example.org/blog/a.png", "https://e.org/b.jpg", "https://example.org/blog/c.png"])
    #expect(images.first?.alt == "A picture")
    #expect(images.first?.width == 640)
    #expect(images.first?.height == 480)
    #expect(images.last?.width == nil)
    #expect(images.last?.alt == nil)
  }

  @Test(
    "distinguishes markup from text with angle brackets",
    arguments: [
      ("a < b and c > d", false), ("Array<Int>", false), ("<T>", false), ("Tom &amp; Jerry", false), ("x <", false),
      ("</", false), ("The <iframe> tag", false), ("Close it with </script>", false), ("<dialog> is here", false),
      ("Use <b> for bold", false), ("<!-- starts a comment", false), ("I <3 you", false),
      ("<https://e.org/?a=b>", false),
      ("use <link>", false), ("<iframe src=x></iframe>", true), ("<script>x</script>", true), ("<b>x</b>", true),
      ("a<br>b", true), ("<P>x", true), ("x</p>", true), ("<!-- x -->", true), ("<img\nsrc=x>", true),
      ("<br/>", true), ("<script", false),
    ])
  func looksLikeMarkup(text: String, expected: Bool) {
    #expect(SafeHTML.looksLikeMarkup(text) == expected)
  }

  @Test("decodes entities of text that is not markup")
  func entities() {
    #expect(SafeHTML.decodingEntities(" Array&lt;Int> &amp; <T>\n&quot;x&quot; ") == "Array<Int> & <T>\n\"x\"")
  }
}
