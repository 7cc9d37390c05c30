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
    #expect(deep.losses.map(\.description) == ["the text is cut: its elements are nested too deeply"])
    #expect(SafeHTML("<a href='javascript:x'>y</a><img src=/z.png>", base: Self.address).losses.isEmpty)
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

@Suite struct `Hidden pictures` {
  @Test(arguments: [
    "<img src='data:image/gif;base64,R0lG' data-src=/a.jpg alt=Pier>", "<img data-lazy-src=/a.jpg alt=Pier>",
    "<img src=/blank.gif data-original=/a.jpg alt=Pier>", "<img src=/s.png width=1 height=1 data-src=/a.jpg alt=Pier>",
    "<img data-srcset='/b.jpg 300w, /a.jpg 900w' alt=Pier>", "<img srcset='/b.jpg, /a.jpg 2x' alt=Pier>",
    "<img srcset='/a.jpg 1024w,/b.jpg 4000w' alt=Pier>", "<noscript><img src=/a.jpg alt=Pier></noscript>",
    "<img src='data:x' alt=Pier><noscript><img src=/a.jpg alt=Pier></noscript>",
    "<a><img src=/spacer.gif></a><noscript><a><img src=/a.jpg alt=Pier></a></noscript>",
    "<img data-src=/a.jpg alt=Pier><noscript><img src=/a.jpg?full alt=Pier></noscript>",
    "<noscript><img src=/a.jpg alt=Pier></noscript><img src='data:x' alt=Pier>",
    "<picture><source srcset='/b.webp'><source srcset='/a.jpg 1x'><img src='data:x' alt=Pier></picture>",
    "<picture><source srcset='/b.webp'><img src=/a.jpg alt=Pier></picture>", "<image src=/a.jpg alt=Pier>",
    "<svg><image xlink:href=/a.jpg alt=Pier></image></svg>", "<amp-img src=/a.jpg alt=Pier></amp-img>",
    "<amp-img src=/a.jpg alt=Pier><noscript><img src=/a.jpg alt=Pier></noscript></amp-img>",
    "<x-photo src=/a.jpg alt=Pier></x-photo>", "<input type=image src=/a.jpg alt=Pier>",
    "<embed src=/a.jpg title=Pier>",
  ])
  func `The real one is shown once, with its words`(_ source: String) {
    let safe = SafeHTML("<p>x</p>" + source, base: "https://a.example/")
    #expect(safe.images.map(\.url) == ["https://a.example/a.jpg"])
    #expect(safe.html.split(separator: "<img", omittingEmptySubsequences: false).count == 2, "\(safe.html)")
    #expect(safe.text == "x\n\nPier")
    #expect(safe.losses.isEmpty)
  }

  @Test(arguments: [
    "unloading-ship.jpg", "lazy-sunday.jpg", "empty-quay.jpg", "downloader.png", "blanket.jpg", "dummy-run.webp",
    "pixel-art.png", "clear.sky.jpg", "loading_dock_7.jpg", "spacers.png", "transparent-fish.jpg", "a/lazy/b.jpg",
    "placeholder-names.gif",
  ])
  func `A file whose name only contains the word of a placeholder is a picture`(_ file: String) {
    let url = "https://a.example/" + file
    let inline = "data:image/gif;base64,R0lG"
    for source in [
      "<img src='\(inline)' data-src='\(url)' alt=Pier>", "<img src='\(inline)' srcset='\(url) 1x' alt=Pier>",
      "<img src=/blank.gif data-src='\(url)' alt=Pier>", "<img src='\(url)' data-any='/b.jpg' alt=Pier>",
      "<picture><source srcset='\(url)'><img src='\(inline)' alt=Pier></picture>", "<img src='\(url)' alt=Pier>",
    ] {
      let safe = SafeHTML(source, base: "https://a.example/")
      #expect(safe.images.map(\.url) == [url], "\(source)")
      #expect(safe.text == "Pier" && safe.losses.isEmpty)
    }
  }

  @Test(arguments: [
    "blank.gif", "ajax-loader.gif", "1x1.png", "placeholder-600x400.png", "transparent.gif", "img_placeholder.svg",
    "lazy-loading.svg", "spacer.gif?x=1", "t.gif", "loading.gif", "blank_1x1.gif", "Pixel.GIF",
  ])
  func `A placeholder gives way to the picture in any attribute`(_ file: String) {
    for attribute in ["data-any", "data-opt-src", "srcset"] {
      let source = "<img src='/\(file)' \(attribute)='/a.jpg' alt=Pier>"
      #expect(SafeHTML(source, base: "https://a.example/").images.map(\.url) == ["https://a.example/a.jpg"])
    }
  }

  @Test(arguments: [
    "data-opt-src='/a.jpg'", "nitro-lazy-src='/a.jpg'", "data-wpfc-original-src='/a.jpg'", "data-lazy-img='/a.jpg'",
    "data-hires='/a.jpg'", "data-imgsrc='/a.jpg'", "data-any='https://a.example/a.jpg'",
    "data-x-set='/b.jpg 300w, /a.jpg 900w'", "data-thumb='/b.jpg' data-large='/a.jpg'", "data-preview='/a.jpg'",
    "alt=/b.jpg data-x='/a.jpg'", "onerror=this.src=/b.jpg data-x='//a.example/a.jpg'", "data-x=photo.jpg data-y='/a.jpg'",
    "data-json='{\"u\":\"/b.jpg\"}' data-y='/a.jpg'", "style='background:url(/b.jpg' data-y='/a.jpg'",
  ])
  func `The address of a picture is found in an attribute of any name`(_ attribute: String) {
    for source in ["<img \(attribute)>", "<img src='data:image/gif;base64,R0lG' \(attribute)>"] {
      let safe = SafeHTML(source, base: "https://a.example/")
      #expect(safe.images.map(\.url) == ["https://a.example/a.jpg"], "\(safe.html)")
      #expect(safe.losses.isEmpty)
    }
  }

  @Test(arguments: [
    "alt=/b.jpg", "title='https://a.example/b.jpg'", "data-caption='see /b.jpg'", "data-file=b.jpg", "onerror=/b.jpg",
    "aria-label='/b.jpg'", "data-page='/b.html'", "class='/b.jpg'", "data-placeholder='/loading.gif'", "data-w=640",
  ])
  func `Words and other addresses are no pictures`(_ attribute: String) {
    #expect(SafeHTML("<img \(attribute)>", base: "https://a.example/").images.isEmpty)
    #expect(SafeHTML("<p>words</p><div data-photo='/b.jpg'>words</div>", base: "https://a.example/").images.isEmpty)
  }

  @Test(arguments: [
    "<picture><source srcset='/b.webp 1x, /a.jpg 2x'></picture>", "<div data-photo='https://a.example/a.jpg'></div>",
    "<span data-any='/a.jpg'></span>", "<section data-bgset='/b.jpg 1x, /a.jpg 2x'></section>",
    "<div style='background-image:url(\"/a.jpg\")'></div>",
    "<figure data-bg='url(/a.jpg)'> </figure>", "<div data-src=/a.jpg></div>",
  ])
  func `A picture without an element of its own is shown too`(_ source: String) {
    let safe = SafeHTML(source, base: "https://a.example/")
    #expect(safe.html.contains("<img src=\"https://a.example/a.jpg\"/>"), "\(safe.html)")
  }

  @Test func `Different pictures beside each other are both shown`() {
    let urls = { (source: String) in SafeHTML(source, base: "https://a.example/").images.map(\.url.last) }
    #expect(urls("<img src=/1><noscript><img src=/2></noscript>") == ["1", "2"])
    #expect(urls("<img data-src=/1.3><noscript><img src=/1.3></noscript><img data-src=/1.4>") == ["3", "4"])
    #expect(urls("<img src='data:x'>words<noscript><img src=/2></noscript>") == ["2"])
    #expect(SafeHTML("<img src='data:x'>words<noscript><img src=//a.example/2></noscript>").losses.count == 1)
  }
}
