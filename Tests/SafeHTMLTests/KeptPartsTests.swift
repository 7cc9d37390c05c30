import SafeHTML
import Testing

@Suite struct `What a reader would miss` {
  private static let address = "https://a.example/posts/1"

  private func safe(_ source: String) -> SafeHTML { SafeHTML(source, base: Self.address, address: Self.address) }

  // MARK: Words

  @Test(arguments: [
    "applet", "audio", "button", "canvas", "datalist", "dialog", "fieldset", "figure", "footer", "form", "frameset",
    "hgroup", "iframe", "legend", "listing", "map", "marquee", "menu", "meter", "noembed", "noframes", "noscript",
    "object", "optgroup", "option", "output", "picture", "plaintext", "progress", "rtc", "search", "select", "slot",
    "summary", "svg", "template", "textarea", "title", "video", "xmp", "unheard", "my-card", "o:p",
  ])
  func `The words of any element are kept`(_ element: String) {
    let safe = safe("<p>before</p><\(element)>words</\(element)><p>after</p>")
    #expect(safe.text.split(whereSeparator: \.isWhitespace) == ["before", "words", "after"], "\(safe.text)")
    #expect(safe.html.contains("words"))
  }

  @Test(arguments: [
    ("<fieldset><legend>Note</legend>The pier is closed.</fieldset>", "Note\nThe pier is closed."),
    ("<menu><li>Soup</li><li>Fish</li></menu>", "Soup\nFish"), ("<p>Ask <button>us</button> now</p>", "Ask us now"),
    ("<button>A</button><button>B</button>", "A B"), ("<label>A</label><label>B</label>", "A B"),
    ("<select><optgroup label=G><option>A<option>B</select>", "G A B"), ("<x-card>A</x-card><x-card>B</x-card>", "A B"),
    ("<span style='display: block'>A</span><span>B</span>", "A\nB"), ("<dl><dt>T</dt><dd>D</dd></dl>", "T\nD"),
    ("<table><caption>C</caption><tr><td>a</td><td>b</td></tr></table>", "C\na b"),
    ("<svg><title>Sales</title><text>12</text><text>13</text><style>p{}</style></svg>", "Sales 12 13"),
    ("<input type=submit value=Vote><input type=hidden value=x>", "Vote"),
    ("<textarea>a <b> c</textarea>", "a <b> c"), ("<xmp>&amp; <p></xmp>", "&amp; <p>"),
    ("<iframe srcdoc='<p>Inner</p>'></iframe>", "Inner"), ("<p>a</p<p>b</p>", "a\n\nb"),
    ("<ruby>漢<rt>かん</rt></ruby>字", "漢(かん)字"), ("<ruby>漢<rp>[</rp><rt>かん</rt><rp>]</rp></ruby>", "漢[かん]"),
    ("<code><div></code>, <code class=x><p></code>", "<div>, <p>"), ("a<![CDATA[<p>b</p>]]>c", "a\n\nb\n\nc"),
    ("<p title=\"unclosed>lost</p><p>kept</p>", "lost\n\nkept"),
    ("caf&eacute au lait &copy 2026", "café au lait © 2026"),
    ("<p>a</p><script src=x><p>b</p>", "a\n\nb"), ("<p>a</p><style media=all><p>b</p>", "a\n\nb"),
  ])
  func `Words are separated as they were`(_ source: String, _ text: String) {
    #expect(safe(source).text == text)
    // The fragment separates them in the same way.
    #expect(SafeHTML(safe(source).html).text == text)
  }

  @Test(arguments: [
    "The <iframe> tag is blocked by <script> rules. Read on.", "<textarea> can be resized", "Use <b> for bold",
    "Array<Int> and Dictionary<Int, String>", "I <3 you, a < b", "<ann@a.example> wrote <https://a.example/?a=b>",
    "Use <link>, <meta> and <img>.", "Close it with </script> or </Unheard>", "The <!-- marker", "<?php echo 1 ?>",
    "a<b<c and d", "if a<b && c>d, x<p || y>z", "vector<A> and <b and c> d", "<% erb %>", "<title> comes first",
  ])
  func `Text that only looks like markup is kept as written`(_ text: String) {
    #expect(!SafeHTML.looksLikeMarkup(text))
    #expect(safe("<p>" + text + "</p>").text == text)
    let safe = safe(text)
    #expect(safe.text == text)
    #expect(SafeHTML(safe.html).text == text)
  }

  @Test(arguments: [
    ("<msup><mi>e</mi><mrow><mi>k</mi><mi>t</mi></mrow></msup>", "e^kt"),
    ("<mi>q</mi><annotation>x_1</annotation>", "x_1"),
    ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2"),
    ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt><mo>=</mo><msub><mi>y</mi><mn>0</mn></msub>", "√(x+1)=y_0"),
    ("<mi>a</mi><script>no</script><mo>&#x2062;</mo><mi>b</mi>", "ab"),
    (
      "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>", "1 2; 3"
    ),
  ])
  func `Formulas become words`(_ formula: String, _ text: String) {
    #expect(safe("<p>x <math>\(formula)</math> y</p>").html == "<p>x \(text) y</p>")
  }

  @Test(arguments: [
    ("<script type='math/tex'>e^{kt}</script>", "e^{kt}"), ("<script type='math/tex; mode=display'>x</script>", "x"),
    ("<script type=math/asciimath>a/b</script>", "a/b"), ("<SCRIPT TYPE='Math/TeX'>y</SCRIPT>", "y"),
    ("<script type=math/mml><math><msup><mi>a</mi><mn>2</mn></msup></math></script>", "a^2"),
    ("<script type='math/tex'>% <![CDATA[\na < b %]]></script>", "a < b"),
    ("<script type='math/tex'>a &lt; b &amp; c</script>", "a < b & c"),
    ("<script type='math/tex'>x</script><script type='math/tex'>y</script>", "xy"),
    ("<span class=MathJax_Preview></span><script type='math/tex'>z</script>", "z"),
    ("<span class=MathJax_Preview>z</span> <script type='math/tex'>z</script>", "z"),
    ("<span class=MathJax><nobr>e2</nobr></span><script type='math/tex'>e^2</script>", "e2"),
    ("<span class=MathJax>a</span> b <script type='math/tex'>c</script>", "a b c"),
    ("<span class=MathJax><math><mi>q</mi></math></span><script type='math/tex'>q</script>", "q"),
    ("<script>x</script><script type=text/javascript>y</script><script type=module>z</script>w", "w"),
    ("<script type='application/math'>x</script><script type='text/x-mathjax-config'>MathJax</script>w", "w"),
    ("<script type='math/tex'><img src=x onerror=y></script>", "<img src=x onerror=y>"),
  ])
  func `Formulas in scripts become words, unless their result is there`(_ source: String, _ formula: String) {
    let safe = safe("<p>Growth is \(source) per day.</p>")
    #expect(safe.text == "Growth is \(formula) per day.")
    #expect(SafeHTML(safe.html).text == safe.text)
  }

  @Test func `The author's words for a formula come first, and its visual copy is left out`() {
    let source = "<math alttext='{\\displaystyle e^{x}}'><mi>e</mi></math><span aria-hidden=true>e x</span>!"
    #expect(safe(source).text == "e^{x}!")
    #expect(safe("<p aria-hidden=true>words</p>").text == "words")
  }

  // MARK: Embeds

  @Test(arguments: [
    ("<iframe src='https://v.example/embed/1'></iframe>", "https://v.example/embed/1"),
    ("<iframe src='about:blank' data-src=//v.example/2></iframe>", "https://v.example/2"),
    ("<embed src=/e.swf>", "https://a.example/e.swf"),
    ("<object data=r.pdf></object>", "https://a.example/posts/r.pdf"),
    ("<object><param name=Movie value='//v.example/3'></object>", "https://v.example/3"),
    ("<audio><source src=/a.mp3></audio>", "https://a.example/a.mp3"),
    ("<video src=/v></video>", "https://a.example/v"),
    ("<video src=/v.mp4><track src=/c.vtt></video>", "https://a.example/c.vtt"),
    ("<frame src=/f>", "https://a.example/f"),
    ("<noscript><iframe src=/n></iframe></noscript>", "https://a.example/n"),
    ("<map><area href=/m alt=M></map>", "https://a.example/m"), ("<oembed url=/o></oembed>", "https://a.example/o"),
    ("<my-player data-src=/p></my-player>", "https://a.example/p"),
    ("<amp-iframe src=/i></amp-iframe>", "https://a.example/i"),
    ("<lite-youtube videoid=abcdef></lite-youtube>", "https://www.youtube.com/watch?v=abcdef"),
    ("<amp-twitter data-tweetid=12345></amp-twitter>", "https://twitter.com/i/status/12345"),
    ("<div class=youtube data-id=abcdef></div>", "https://www.youtube.com/watch?v=abcdef"),
    ("<div data-href='https://s.example/post'> </div>", "https://s.example/post"),
    ("<blockquote cite='https://t.example/1'><section></section></blockquote>", "https://t.example/1"),
    ("<iframe data-nitro-src='https://v.example/4'></iframe>", "https://v.example/4"),
    ("<iframe src='about:blank' data-any='//v.example/5' title=x></iframe>", "https://v.example/5"),
    ("<object classid='https://c.example/' data-any='https://v.example/6'></object>", "https://v.example/6"),
    ("<video data-x='https://v.example/7.mp4' data-p='https://v.example/p.jpg'></video>", "https://v.example/7.mp4"),
    ("<div data-sound='/s.mp3'></div>", "https://a.example/s.mp3"),
    ("<script src='https://gist.github.com/u/1.js'></script>", "https://gist.github.com/u/1"),
    ("<svg><a xlink:href=/s><text>x</text></a></svg>", "https://a.example/s"),
    ("<a href=/x><iframe src=/y></iframe>z</a>", "https://a.example/y"),
  ])
  func `The address of an embed becomes a link`(_ source: String, _ address: String) {
    let safe = safe("<p>See:</p>" + source)
    #expect(safe.html.contains("<a href=\"\(address)\">"), "\(safe.html)")
    #expect(safe.losses.isEmpty)
    #expect(safe.text.count > "See:".count)
  }

  @Test func `The link has the title of the embed, and is written once`() {
    let titled = safe("<iframe src=/v title='The  launch'></iframe>")
    #expect(titled.html == "<a href=\"https://a.example/v\">The launch</a>")
    let linked = safe("<video><source src=/v.mp4><a href=/v.mp4>Download</a></video>")
    #expect(linked.html == "<a href=\"https://a.example/v.mp4\">Download</a>")
    #expect(safe("<iframe src=/v width=0 height=0></iframe>x").html == "x")
    let outer = safe("<a href=/x>one <iframe src=/v></iframe>two</a> three")
    let links = [("x", "one two"), ("v", "a.example/v")].map { "<a href=\"https://a.example/\($0)\">\($1)</a>" }
    #expect(outer.html == links.joined(separator: " ") + " three")
    #expect(safe("<div data-href=/v>words</div>").html == "<div>words</div>")
  }

  @Test func `Sounds and films are listed with their poster, each once`() {
    let safe = safe(
      "<video poster=/p.jpg width=640><source src=/v.mp4 type=video/mp4><source src=/v.webm></video>"
        + "<audio src=/a title=Episode></audio><iframe src=/b.ogg></iframe><embed src=/v.mp4><x-audio src=/c></x-audio>"
    )
    #expect(
      safe.recordings.map(\.url) == ["v.mp4", "a", "b.ogg", "c"].map { "https://a.example/" + $0 })
    #expect(safe.recordings.map(\.isVideo) == [true, false, false, false])
    #expect(safe.recordings.first?.type == "video/mp4" && safe.recordings.first?.width == 640)
    #expect(safe.recordings[1].title == "Episode")
    #expect(safe.images.map(\.url) == ["https://a.example/p.jpg"])
  }

  @Test func `Losses are counted by kind and reason, and alternative texts stay`() {
    let long = "https://a.example/" + String(repeating: "x", count: 3000)
    let safe = safe(
      "<img src='data:image/png;base64,AAAA' alt=Chart><img src='data:x'><img src='\(long)' alt=Pier>"
        + "<a href='\(long)'>words</a><iframe src='blob:x'></iframe><img src='cid:1' width=1 height=1>")
    #expect(safe.text == "Chart Pier words")
    #expect(
      safe.losses.map(\.description) == [
        "2 pictures are omitted: they are inside the text (data:)",
        "a picture is omitted: the address has 3018 bytes, more than 2048",
        "a link is omitted: the address has 3018 bytes, more than 2048",
        "an embed is omitted: the address is not one of the web",
      ])
    let deep = SafeHTML(String(repeating: "<div>", count: 600) + "words")
    #expect(deep.losses.map(\.description) == ["elements that are nested too deeply are omitted, not their text"])
    #expect(deep.text == "words")
    #expect(SafeHTML("<a href='javascript:x'>y</a><img src=/z.png>", base: Self.address).losses.isEmpty)
  }

  // MARK: Names, links and marks

  @Test(arguments: [
    ("<svg role=img aria-label='Sales rose to 12'><path d=''/></svg>", "Sales rose to 12"),
    ("<span role=img aria-label=snowman></span>", "snowman"),
    ("<i class=star title='4 of 5 stars'></i>", "4 of 5 stars"),
    ("<div role=img aria-label=Pier style='background-image:url(/a.jpg)'></div>", "Pier"),
    ("<picture title=Pier><source srcset='/a.jpg'></picture>", "Pier"), ("<canvas aria-label=Chart></canvas>", "Chart"),
    ("<a href=/r.pdf title=Report></a>", "Report"),
    ("<a href=/r.pdf aria-label=Report><svg><path/></svg></a>", "Report"),
    ("<a href=/r.pdf></a>", "a.example/r.pdf"), ("<a href=/r.pdf> <svg/> </a>", "a.example/r.pdf"),
    ("<a href='mailto:ann@a.example?subject=x'></a>", "ann@a.example"),
    ("<abbr title='World Wide Web'></abbr>", "World Wide Web"),
    ("<div class=stars aria-label='4 of 5'><b></b></div>", "4 of 5"), ("<td aria-label=Yes></td>", "Yes"),
  ])
  func `The name of an element without content is its text`(_ source: String, _ text: String) {
    let safe = safe("<p>See</p>" + source)
    #expect(safe.text == "See\n\n" + text || safe.text == "See\n" + text, "\(safe.text)")
    #expect(SafeHTML(safe.html).text == safe.text)
    #expect(SafeHTML(safe.html).html == safe.html)
    #expect(safe.losses.isEmpty)
  }

  @Test(arguments: [
    "<a href='#top' title=Permalink></a>", "<a href='https://a.example/posts/1#n' aria-label=Anchor></a>",
    "<a href='#n' title=Permalink></a><i id=n>words</i>", "<a href='#n'></a><i id=n></i>",
    "<a href=https://ads.example/><img src=/p.gif width=1 height=1></a>", "<a name=x title=x></a>", "<a href=''></a>",
    "<a href='javascript:x()' title=Share></a>", "<span aria-hidden=true aria-label=x></span>", "<p title=x></p>",
    "<nav aria-label=Main></nav>", "<button aria-label=Close></button>", "<ul aria-label=x></ul>", "<i class=x></i>",
    "<span title='see'>words</span>", "<svg aria-label=x><text>words</text></svg>", "<a href=/x title=y>words</a>",
  ])
  func `Controls, places and elements with content get no name`(_ source: String) {
    let safe = safe("<p>words</p>" + source)
    #expect(safe.text.split(whereSeparator: \.isWhitespace).allSatisfy { $0 == "words" }, "\(safe.text)")
  }

  @Test(arguments: [
    ("tel:+4930123456", "Call us", "Call us (+4930123456)"), ("tel:+49-30-123456", "030 123456", "030 123456"),
    ("tel:%2B49%2030%2012", "Call", "Call (+49 30 12)"),
    ("sms:+4930123456?body=Hi", "Text us", "Text us (+4930123456)"),
    ("fax:030123456", "", "030123456"), ("TEL:123456", "Call", "Call (123456)"), ("tel:x", "Call", "Call"),
    ("ftp://f.example/a.zip", "Files", "Files (ftp://f.example/a.zip)"), ("ftp://f.example/", "f.example", "f.example"),
    ("magnet:?xt=urn:btih:abc", "Get it", "Get it (magnet:?xt=urn:btih:abc)"),
    ("gemini://g.example/", "", "gemini://g.example/"), ("callto://123456", "Call", "Call (123456)"),
    ("tel:<b>1", "Call", "Call (<b>1)"),
  ])
  func `A number or address outside of the web stays in words`(_ address: String, _ words: String, _ text: String) {
    let safe = safe("<a href='\(address)'>\(words)</a>.")
    #expect(safe.text == text + ".")
    #expect(!safe.html.contains("<a") && safe.losses.isEmpty)
    #expect(SafeHTML(safe.html).text == safe.text)
  }

  @Test(arguments: [
    ("whatsapp://send?text=x", "a link is omitted: the address is not one of the web"),
    ("https://a.example:99999/", "a link is omitted: the address is not one of the web"),
    ("/posts/2", "a link is omitted: the address is relative, and that of the page is unknown"),
    ("page.html", "a link is omitted: the address is relative, and that of the page is unknown"),
    ("intent://x#Intent;end", "a link is omitted: the address is not one of the web"),
    ("ftp://f.example/\(String(repeating: "x", count: 300))", "a link is omitted: the address is not one of the web"),
    ("#part", nil), ("javascript:x", nil), ("java\nscript:x", nil), ("", nil), (" ", nil), ("data:text/html,x", nil),
    ("about:blank", nil), ("file:///etc/passwd", nil), ("vbscript:x", nil), ("https://a.example/", nil),
  ])
  func `Other links are reported, except scripts and places`(_ address: String, _ report: String?) {
    let safe = SafeHTML("<a href='\(address)'>words</a>")
    #expect(safe.losses.map(\.description) == [report].compactMap(\.self))
    #expect(safe.text == "words")
  }

  @Test(arguments: [
    ("<select><option label=Monday></option><option label=x>Tuesday</option></select>", "Monday Tuesday"),
    ("<ul><li><input type=checkbox checked> Milk<li><input type=checkbox> Tea</ul>", "☑ Milk\n☐ Tea"),
    ("<p><input type=RADIO checked>A <input type=radio>B</p>", "◉ A ○ B"),
    ("<input type=checkbox id=menu><ul><li>x</ul>", "x"), ("<li><input type=checkbox hidden>x", "x"),
    ("<p>He said <q>No <q>more</q></q>.</p>", "He said “No ‘more’”."), ("<q>“Yes”</q>", "“Yes”"),
    ("a <q></q> b", "a b"),
    ("<q><p>x</p></q>y", "“x”\n\ny"), ("10<sup>6</sup> m<sup>-2</sup>", "10⁶ m⁻²"), ("H<sub>2</sub>O", "H2O"),
    ("1<sup>st</sup>", "1st"), ("Claim.<sup><a href=//b.example>12</a></sup>", "Claim.¹²"), ("<sup>1</sup>/2", "1/2"),
    ("x <sup>2</sup>", "x 2"), ("x<sup>-</sup>", "x-"), ("<q> x </q>y", "“x” y"), ("<q>a<br></q>b", "“a”\nb"),
    ("<code><input type=\"date\"></code>", "<input type=\"date\">"),
    ("<code><a target=\"_blank\"></code> or <a href=//b.example>x</a>", "<a target=\"_blank\"> or x"),
    ("<code><img src=//b.example/a.png alt=Pier></code>", "Pier"), ("<code><b title=x>y</b></code>", "y"),
  ])
  func `Marks and labels that a browser shows are text`(_ source: String, _ text: String) {
    let safe = safe(source)
    #expect(safe.text == text)
    #expect(SafeHTML(safe.html).text == text)
  }

  @Test(arguments: [
    "<div>", "<b>", "<ul><li>", "<section><p><span>", "<table><tr><td>", "<x-y title='>'>", "<font a=b>",
  ])
  func `Text, pictures and line breaks below any depth are kept`(_ tags: String) {
    let source =
      "<p>first</p>" + String(repeating: tags, count: 600)
      + "a<b class='>'>b</b><script>no()</script><!-- no --><p>c<img src=/a.jpg alt=Pier> &lt;d&gt; 1 &lt; 2<br>e</p>"
      + "<style>no</style><svg><text>f</text></svg><a href=/x>g</a>"
    let safe = safe(source)
    let words = safe.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words == "first ab c Pier <d> 1 < 2 e f g", "\(words)")
    #expect(safe.images.map(\.url) == ["https://a.example/a.jpg"])
    #expect(safe.losses.map(\.part) == [.text])
    #expect(MarkupCheck.fault(in: safe.html) == nil && SafeHTML(safe.html).html == safe.html)
  }

  // MARK: Targets

  @Test(arguments: [
    ("<a href='#n'>1</a><p id=n>x</p>", "<a href=\"#user-content-n\">1</a><p id=\"user-content-n\">x</p>"),
    (
      "<a href='https://a.example/posts/1#n'>1</a><a name=n></a>x",
      "<a href=\"#user-content-n\">1</a><span id=\"user-content-n\"></span>x"
    ),
    (
      "<a href='http://a.example/posts/1/#n'>1</a><a name=n href=/y>x</a>",
      "<a href=\"#user-content-n\">1</a><a href=\"https://a.example/y\" id=\"user-content-n\">x</a>"
    ),
    ("<a href='#m%3A1'>1</a><b id='m:1'></b>", "<a href=\"#user-content-m:1\">1</a><b id=\"user-content-m:1\"></b>"),
    ("<a href='#ä'>1</a><hr id=ä>", "<a href=\"#user-content-%C3%A4\">1</a><hr id=\"user-content-ä\"/>"),
    (
      "<a href='#n'>1</a><font id=n>x</font><p id=n>y</p>",
      "<a href=\"#user-content-n\">1</a><span id=\"user-content-n\"></span>x<p>y</p>"
    ),
    (
      "<a href='#fn-1'>1</a><i id=user-content-fn-1>x</i>",
      "<a href=\"#user-content-fn-1\">1</a><i id=\"user-content-fn-1\">x</i>"
    ),
    ("<p id=main>x</p>", "<p>x</p>"), ("<a href='#n'>1</a>", "<a href=\"https://a.example/posts/1#n\">1</a>"),
    (
      "<a href='https://b.example/#n'>1</a><p id=n>x</p>", "<a href=\"https://b.example/#n\">1</a><p>x</p>"
    ),
  ])
  func `Links to targets inside stay inside`(_ source: String, _ expected: String) {
    let html = safe(source).html
    #expect(html == expected)
    #expect(safe(html).html == html && SafeHTML(html).html == html)
  }

  @Test func `Footnotes work in both directions`() {
    let source =
      "<p>Claim<sup id=r1><a href='#fn1'>1</a></sup>.</p><ol><li id=fn1>Source. <a href='#r1'>back</a></li></ol>"
    let html = SafeHTML(source).html
    for name in ["r1", "fn1"] {
      #expect(html.contains("id=\"user-content-\(name)\"") && html.contains("href=\"#user-content-\(name)\""))
    }
  }
}
