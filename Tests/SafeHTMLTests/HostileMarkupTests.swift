import SafeHTML
import TestKit
import Testing

@Suite("Hostile markup")
struct HostileMarkupTests {
  private static let base = "https://example.org/"

  /// Vectors from common collections for testing sanitisers.
  static let vectors = [
    "<script>alert(1)</script>", "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>", "<img src=\"x\" onerror=\"alert(1)\" alt='\"><script>alert(1)</script>'>",
    "<svg/onload=alert(1)>", "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<math><mi//xlink:href=\"data:x,<script>alert(4)</script>\">", "<body onload=alert(1)>x</body>",
    "<a href=javascript:alert(1)>x</a>", "<a href='JaVaScRiPt:alert(1)'>x</a>", "<a href='java\nscript:alert(1)'>x</a>",
    "<a href='java&#x09;script:alert(1)'>x</a>", "<a href='&#106;avascript&colon;alert(1)'>x</a>",
    "<a href=' &#14; javascript:alert(1)'>x</a>", "<a href='\u{1}javascript:alert(1)'>x</a>",
    "<a href='java&Tab;script&colon;alert(1)'>x</a>", "&LT;script&GT;alert(1)&LT;/script&GT;",
    "<a href='javascript&#58;alert(1)'>x</a>", "<a href='vbscript:x'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>", "<a href='view-source:javascript:x'>x</a>",
    "<a href='http:javascript:alert(1)'>x</a>", "<a href='//javascript:alert(1)/'>x</a>",
    "<img src='javascript:alert(1)'>", "<img src=data:image/svg+xml;base64,PHN2Zz4=>",
    "<img dynsrc=javascript:x lowsrc=y>",
    "<iframe src=https://evil.example/></iframe>after", "<object data=x.swf><embed src=y></object>", "<embed src=x>",
    "<form action=https://evil.example><input name=a><button>x</button></form>", "<isindex action=javascript:x>",
    "<style>@import 'https://evil.example/x.css';</style>", "<p style='background:url(javascript:x)'>x</p>",
    "<div style=position:fixed>x</div>", "<link rel=stylesheet href=x>", "<meta http-equiv=refresh content='0;url=x'>",
    "<base href='javascript:/'><a href=x>y</a>", "<!--<img src='--><img src=x onerror=alert(1)//'>",
    "<![CDATA[<script>alert(1)</script>]]>", "<?xml-stylesheet href='x'?><b>y</b>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<textarea><img title='</textarea><img src=x onerror=alert(1)>'></textarea>",
    "<xmp><p title='</xmp><script>x</script>'></xmp>",
    "<title><img src=x onerror=alert(1)></title>", "<template><script>x</script></template>", "<plaintext><script>x",
    "<table background=javascript:x><td background=x>y</td></table>", "<details open ontoggle=alert(1)>x</details>",
    "<video><source onerror=alert(1)></video>", "<audio src=x onerror=alert(1)>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<p/onclick=alert(1)>x</p>", "<p \u{0}onclick=alert(1)>x</p>", "<a\u{C}href=javascript:x>y</a>",
    "<p title=\"a&quot; onclick=&quot;x\">y</p>",
    "<a href=\"https://e.org/&quot; onclick=&quot;x\">y</a>", "<abbr title='<script>x</script>'>y</abbr>",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "<<script>alert(1)//<</script>", "<b <script>alert(1)</script>",
    "<a href=\"x", "<", "</", "<!", "&", "&#", "&#x110000;",
    "<p><table><p></table></p></b></i><a><a><a>", "<ul><p><li><p><ul></p></li></ul>", "<b><p><i></b></p></i>",
    "<td>x</td><li>y<tr>z", "<a href=/1>x<div><a href=/2>y</a></div></a>", "<h1><h2><h3>x",
    "<frameset><frame src=x></frameset>",
  ]

  @Test("comes out harmless and well-formed", arguments: vectors)
  func vector(source: String) {
    let safe = SafeHTML(source, base: Self.base)
    #expect(MarkupCheck.fault(in: safe.html) == nil)
    #expect(SafeHTML(safe.html, base: Self.base).html == safe.html)
  }

  @Test("is dropped with the content of code", arguments: ["script", "style", "metadata"])
  func dropped(element: String) {
    let safe = SafeHTML("a<\(element)>secret</\(element)>b", base: Self.base)
    #expect(!safe.html.contains("secret"))
    #expect(safe.text == "ab")
  }

  @Test(
    "keeps the text after void elements",
    arguments: ["embed", "source", "track", "wbr", "input", "param"])
  func voidElements(element: String) {
    #expect(SafeHTML("a<\(element) type=x>b").text == "ab")
  }

  @Test("is read at any nesting depth")
  func depth() {
    for tag in ["<b>", "<div>", "<ul><li>", "<blockquote><p>", "<table><tr><td>", "<svg>", "<x>"] {
      let safe = SafeHTML("start " + String(repeating: tag, count: 20_000) + "x", base: Self.base)
      #expect(safe.text.hasPrefix("start"))
      #expect(MarkupCheck.fault(in: safe.html) == nil)
    }
    func depth(_ count: Int) -> Int {
      SafeHTML(String(repeating: "<div>", count: count) + "x").html.split(
        separator: "<div>", omittingEmptySubsequences: false
      ).count - 1
    }
    #expect(depth(99) == 99 && depth(100) == 100 && depth(101) == 100)
  }

  @Test("comes out harmless and stable for random sequences of tags", arguments: 0..<40)
  func tagSoup(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let names =
      Array(MarkupCheck.elements).sorted() + [
        "script", "style", "svg", "form", "section", "span", "center", "custom", "body", "html", "head", "title",
        "embed",
        "font", "select", "option", "noscript", "textarea", "iframe", "video", "audio", "source", "object", "picture",
        "option", "input",
        "math", "msup", "mi", "mo", "menu", "legend", "fieldset", "button", "x-card", "xmp", "template",
      ]
    let attributes = [
      "", " href=/x", " src=y.png", " href='javascript:x'", " onclick=z", " title='a \"b\" <c>'", " style=x",
      " dir=ltr",
      " colspan=2", " cite=//e.org/\u{E4}", " id=x", " name=y", " href=#x", " href='https://example.org/#y'",
      " data-src=z.png", " srcset='a.png 1x, b.png 2x'", " style='display:block;background:url(c.png)'",
      " src='data:x'", " alt='a <b>'", " data-href=/e", " srcdoc='<p>x</p>'", " alttext='x<y'", " aria-hidden=true",
      " aria-label='a <b>'", " href=tel:1", " type=checkbox", " data-any=/z.jpg", " type=math/tex", " class=MathJax",
      " src=/p.gif width=1 height=1", " href=//e.org/",
    ]
    let words = [
      "text", " ", "\n", "&amp;", "&lt;b&gt;", "&nbsp;", "<", ">", "\"", "'", "<!-- c -->", "<!--",
      "<![CDATA[", "]]>", "<Int>", "<iframe>", "</b>", "é", "😀", "\u{0}", "&#128;",
    ]
    for _ in 0..<25 {
      let source = (0..<60).map { _ in
        let name = names.randomElement(using: &random) ?? "p"
        return switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: "<\(name)\(attributes.randomElement(using: &random) ?? "")>"
        case 2, 3: "</\(name)>"
        default: words.randomElement(using: &random) ?? ""
        }
      }.joined()
      let safe = SafeHTML(source, base: Self.base)
      #expect(MarkupCheck.fault(in: safe.html) == nil, "\(source.debugDescription)")
      #expect(SafeHTML(safe.html, base: Self.base).html == safe.html, "\(source.debugDescription)")
      #expect(SafeHTML(source, base: Self.base) == safe)
      #expect(!safe.text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" })
    }
  }

  @Test("is accepted for any bytes", arguments: 0..<40)
  func noise(seed: UInt64) {
    var random = SplitMix64(seed: seed &+ 1000)
    let alphabet = Array("<>/=\"'&;#! \n\u{0}abpi-[]?".utf8) + [0x80, 0xC3, 0xA4, 0xE2, 0xFF, 0xF0, 0x9F]
    for _ in 0..<50 {
      let bytes = (0..<200).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      let safe = SafeHTML(String(decoding: bytes, as: UTF8.self), base: Self.base)
      #expect(MarkupCheck.fault(in: safe.html) == nil)
      #expect(SafeHTML(safe.html, base: Self.base).html == safe.html)
    }
  }
}
