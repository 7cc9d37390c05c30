import SafeHTML
import TestKit
import Testing

@Suite struct `The cost of markup` {
  struct Shape: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes = 8_000
    var make: @Sendable (Int) -> String

    var testDescription: String { name }

    /// Returns a shape that repeats a text.
    static func repeated(_ text: String, bytes: Int = 8_000) -> Shape {
      Shape(name: "\(text.prefix(40).debugDescription) again and again", bytes: bytes) { size in
        String(repeating: text, count: size / text.utf8.count)
      }
    }

    /// Returns a shape that repeats a text between a start and an end.
    static func long(_ start: String, _ text: String, _ end: String, bytes: Int = 8_000) -> Shape {
      Shape(name: "a long \((start + end).debugDescription)", bytes: bytes) { size in
        start + String(repeating: text, count: size / text.utf8.count) + end
      }
    }
  }

  private static let attributes = [
    Shape(name: "attributes", bytes: 40_000) { size in
      "<a " + (0..<size / 8).map { "a\($0)=1" }.joined(separator: " ") + ">"
    },
    Shape(name: "attributes without values", bytes: 40_000) { size in
      "<p " + (0..<size / 6).map { "b\($0)" }.joined(separator: " ") + ">"
    },
    Shape(name: "attributes behind a quoted bracket", bytes: 40_000) { size in
      "<a x='>' " + (0..<size / 8).map { "a\($0)='>'" }.joined(separator: "\n") + ">"
    },
    Shape(name: "attributes behind a comment that looks like an open quote", bytes: 40_000) { size in
      "<!-- <a x=\" --><a " + (0..<size / 8).map { "a\($0)=1" }.joined(separator: " ") + " y=\">"
    },
    Shape(name: "attributes of a tag without end", bytes: 40_000) { size in
      "<a " + (0..<size / 8).map { "a\($0)=1" }.joined(separator: "\t")
    },
    Shape(name: "a name of many parts", bytes: 100_000) { size in
      "<a " + (0..<size / 8).map { "abc\($0)" }.joined() + ">"
    },
  ]

  private static let tags: [Shape] = [
    Shape(name: "elements without content, then end tags", bytes: 80_000) { size in
      String(repeating: "<wbr>", count: size / 10) + String(repeating: "</b>", count: size / 8)
    },
    Shape(name: "newer elements without content, then end tags", bytes: 80_000) { size in
      String(repeating: "<source>", count: size / 16) + String(repeating: "</b>", count: size / 8)
    },
    Shape(name: "open elements, then end tags", bytes: 80_000) { size in
      String(repeating: "<x>", count: size / 6) + String(repeating: "</y>", count: size / 8)
    },
    Shape(name: "pictures") { size in (0..<size / 34).map { "<img src=http://a.example/\($0)>" }.joined() },
  ]

  private static let repetitions =
    [
      "<b>", "<p>", "<div>", "<ul><li>", "<table><tr><td>", "<a href=x>", "</a>", "</p>", "<b><p>", "<p><b></p>",
      "<!--",
      "<!---->", "<![CDATA[", "<?", "<", "&", "&#", "&nbsp;", "&#x1F600;", "&CounterClockwiseContourIntegral;",
      "<a x=\"",
      "<a b='\"", "<script>", "<script></script>", "<style></", "<select><option>", "<head><title>", "<svg><math>",
      "<dl><dt><dd>", "<form>", "<frameset>", "<pre>\n\n </pre>", "<br>", "🇩🇪", "👩\u{200D}", "<!DOCTYPE ",
      "<img src='data:image/png;base64,AAAA'>",
    ].map { Shape.repeated($0) }

  private static let parts =
    [
      "<iframe src=/a></iframe>", "<video><source src=a.mp4>", "<picture><source srcset='/a 1x'><img></picture>",
      "<noscript><img src=/a>", "<p id=x><a href=#x>", "<math><mfrac><mo>+</mo>", "<msup><mi>a</mi><mo>+</mo></msup>",
      "<iframe srcdoc='<b>'>", "<div style='background:url(/a)'></div>", "<textarea>", "<xmp>&</xmp>", "</script>",
      "<![CDATA[]]>", "<!--x", "<a ='", "<b> ", "<link> ", "<x-y src=/a>", "<a href=/x><iframe src=/y>", "&nbsp",
      "<script type=math/tex>x</script>", "<i class=MathJax>x</i>", "<img data-any=/a.jpg src=/1x1.gif>",
      "<iframe data-any=//a.example/1></iframe>", "<q>", "<q></q>", "<q>“x</q>", "1<sup>2</sup>", "<sup>1",
      "<a href=tel:1>",
      "<a href=/x></a>", "<a href=/x><img src=/1x1.gif width=1 height=1>", "<i title=x>", "<li><input type=checkbox>",
      "x<table>", "x<p/>", "<x-y>x</x-y><template></template>", "<a href=/x></a><a href=/x>x</a>",
    ].map { Shape.repeated($0) }

  private static let lengths: [Shape] = [
    .long("<table>", "x<tr>", "</table>"), .long("<table>", "x<form><tr>", "</table>"), .long("<td>", "x</td><tr>", ""),
    .long("<img srcset='", "a,", "'>"), .long("<img srcset='", "a ", "'>"), .long("<img srcset='", "/a 1x, ", "'>"),
    .long("<p style='background:url(", "a(", ")'>"), .long("<math><mi>", "a &amp; ", "</mi></math>"),
    .long("<iframe srcdoc='", "<p>x ", "'></iframe>"), .long("<img alt='", "a <b> ", "'>"),
    Shape(name: "targets") { size in (0..<size / 24).map { "<a href=#n\($0) id=n\($0)>" }.joined() },
    .long("<img data-any='", "/a.jpg 1x, ", "'>"), .long("<img data-any='/", "e\u{316}\u{301}", ".jpg'>"),
    .long("<script type=math/tex>", "% <![CDATA[", "</script>"), .long("<script type=math/mml>", "<mi>", "</script>"),
    .long("<img src='/", "blank-", ".gif'>"), .long("<img class='MathJax", "/x.jpg ", "'>"),
    .long("", " ", "."), .long("<pre>", "\n", "</pre>"), .long("<p title=\"", "v ", "\">x</p>"),
    .long("<a href=\"http://a.example/", "v ", "\">x</a>"), .long("<img src='data:image/png;base64,", "AAAA", "'>"),
    .long("&", "a", ";"), .long("e", "\u{316}\u{301}", ""), .long("<td colspan='e", "\u{316}\u{301}", "px'>"),
    .long("<p dir='e", "\u{316}\u{301}", "'>"), .long("<p lang='e", "\u{316}\u{301}", "'>"),
    .long("<a title='e", "\u{316}\u{301}", "' href='//a.example'>x</a>"),
  ]

  /// The only end of all the tags is that of the last one.
  private static let unended = ["<p", "<foo ", "<é@ a='x' ", "<p & ", "<i a= ", "<foo '"].map { text in
    Shape(name: "\(text.debugDescription) again and again before an end", bytes: 20_000) { size in
      String(repeating: text, count: size / text.utf8.count) + ">"
    }
  }

  private static let deep = [
    "<b>x", "<a x='", "<a x=\"'", "<!--", "<script>", "<style></script>", "<p", "</p", "<", "<img alt='", "<p>x</p>",
    "a ",
  ].map { text in
    Shape(name: "\(text.debugDescription) again and again below many elements", bytes: 20_000) { size in
      String(repeating: "<div>", count: 600) + String(repeating: text, count: size / text.utf8.count) + ">"
    }
  }

  @Test(arguments: attributes + tags + repetitions + parts + lengths + unended + deep)
  func `The time is proportional to the size`(_ shape: Shape) {
    let growth = growth(from: shape.bytes, of: shape.make) { _ = SafeHTML($0, base: "https://a.example/") }
    #expect(growth < linearGrowth)
  }

  @Test(arguments: ["<", "e\u{316}\u{301}", "&amp;", "a <b", "&#"])
  func `The time to decode entities and to recognise markup is proportional to the size`(_ text: String) {
    let make = { (size: Int) in "x" + String(repeating: text, count: size / text.utf8.count) }
    #expect(growth(from: 8_000, of: make) { _ = SafeHTML.decodingEntities($0) } < linearGrowth)
    #expect(growth(from: 8_000, of: make) { _ = SafeHTML.looksLikeMarkup($0) } < linearGrowth)
  }

}

@Suite struct `Attributes of a tag` {
  @Test func `The first 64 are read`() {
    let many = (0..<70).map { "data-\($0)=\"\($0)\"" }
    let early = "<a " + (many.prefix(63) + ["href=\"https://a.example/\""]).joined(separator: " ") + ">x</a>"
    #expect(SafeHTML(early).html == "<a href=\"https://a.example/\">x</a>")
    let late = "<p><a " + (many + ["href=\"https://a.example/\""]).joined(separator: " ") + ">x</a> y</p>"
    #expect(SafeHTML(late).html == "<p>x y</p>")
    #expect(SafeHTML(late).text == "x y")
  }

  @Test(arguments: [
    "<script>if(a<b){\(String(repeating: "one two = three; ", count: 100))}</script>",
    "<!-- a <b \(String(repeating: "one two = three; ", count: 100)) -->",
    "<style><x \(String(repeating: "one two ", count: 100))</style>",
  ])
  func `The end of a script or comment that contains a tag is found`(_ source: String) {
    #expect(SafeHTML("<p>before</p>" + source + "<p>after</p>").text == "before\n\nafter")
  }

  @Test func `The end of a quoted value that contains a tag is found`() {
    let words = String(repeating: "one two ", count: 100)
    let html = SafeHTML("<p title=\"a <b \(words)\">text</p><p>after</p>").html
    #expect(html.hasSuffix("text</p><p>after</p>"), "\(html)")
  }

  @Test func `Word breaks leave no element open`() {
    let source = "<p>" + String(repeating: "long<wbr>", count: 2000) + "</p><p>after</p>"
    let safe = SafeHTML(source)
    #expect(safe.text.hasSuffix("longlong\n\nafter"))
    #expect(safe.text.utf8.count == 8000 + 7)
  }

  @Test func `No parser finds more of them, in any context`() {
    var random = SplitMix64(seed: 7)
    let pieces = [
      "<", ">", " ", "\"", "'", "=", "/", "a", "b", "c", "d", "e", "f", "<p", "<b ", "<!--", "-->", "<script>",
      "</script>", "]]>", "<![CDATA[", "?>", "<?", "\n", "é", "&amp;", "@", "-", "=\"", "='", " y=\"", "/>", "</a",
      "\u{C}",
      "_", ":q", "l m n o", "r=1 s=2",
    ]
    for _ in 0..<2000 {
      let text = (0..<Int.random(in: 1...60, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
      let limited = AttributeLimit.applied(to: Array(text.joined().utf8), maximum: 3)
      #expect(HTMLScanner.maximumAttributeCount(in: limited) <= 3, "\(text.joined().debugDescription)")
    }
  }
}
