import SafeHTML
import Testing

@Suite struct `The boundaries between words` {
  private static let address = "https://a.example/posts/1"

  private func safe(_ source: String) -> SafeHTML { SafeHTML(source, base: Self.address, address: Self.address) }

  /// Checks that the fragment is stable and has the text of the source.
  private func check(_ source: String, _ html: String, _ text: String) {
    let safe = safe(source)
    #expect(safe.html == html)
    #expect(safe.text == text)
    let again = self.safe(safe.html)
    #expect(again.html == html)
    #expect(again.text == text)
    #expect(MarkupCheck.fault(in: html) == nil)
  }

  @Test(arguments: [
    ("para one<p/>para two", "para one<br/><br/>para two", "para one\n\npara two"), ("g<div/>h", "g<br/>h", "g\nh"),
    ("<p/>abc<p></p>def", "abc<br/><br/>def", "abc\n\ndef"), ("a<section></section><b>b</b>", "a<br/><b>b</b>", "a\nb"),
    ("one <b><div></div></b>two", "one <br/>two", "one\ntwo"), ("<p>a</p><p/><p>b</p>", "<p>a</p><p>b</p>", "a\n\nb"),
    ("a<br/><div></div>b", "a<br/>b", "a\nb"), ("a<div></div>", "a", "a"), ("a<p></p><i></i>", "a", "a"),
  ])
  func `An empty block stays a boundary`(_ source: String, _ html: String, _ text: String) {
    check(source, html, text)
  }

  @Test(arguments: [
    ("<td>a</td><td>b</td>", "a b", "a b"), ("<th>a</th>b", "a b", "a b"),
    ("<tr><td>a</td><td>b</td></tr><tr><td>c</td></tr>", "<div>a b</div><div>c</div>", "a b\nc"),
    ("<tbody><tr><td>a", "<div><div>a</div></div>", "a"), ("x<caption>a</caption>y", "x<div>a</div>y", "x\na\ny"),
    ("<table><tr><td><div><td>a</div></table>", "<table><tr><td><div>a</div></td></tr></table>", "a"),
  ])
  func `Rows and cells outside of a table become blocks and words`(_ source: String, _ html: String, _ text: String) {
    check(source, html, text)
  }

  @Test(arguments: [
    (
      "x<table>foo<tr><td>a</td></tr></table>", "x<table><tr><td>foo</td></tr><tr><td>a</td></tr></table>",
      "x\n\nfoo\na"
    ),
    (
      "<table><tr>foo &amp; <b>bar</b><td>a</td></tr></table>",
      "<table><tr><td>foo &amp; <b>bar</b></td><td>a</td></tr></table>", "foo & bar a"
    ),
    (
      "<table>a<tr><td>b<td>c</tr><tr><td>d</table>",
      "<table><tr><td>a</td></tr><tr><td>b</td><td>c</td></tr><tr><td>d</td></tr></table>", "a\nb c\nd"
    ),
    ("<table><form><tr><td>a<td>b</form></table>", "<table><tr><td>a</td><td>b</td></tr></table>", "a b"),
    ("<table><tr><br><td>a</table>", "<table><tr><td>a</td></tr></table>", "a"),
    (
      "<table><img src=/a.png alt=Pier><tr><td>a</table>",
      "<table><tr><td><img src=\"https://a.example/a.png\" alt=\"Pier\"/></td></tr><tr><td>a</td></tr></table>",
      "Pier\na"
    ),
  ])
  func `Content between the cells of a table gets a cell`(_ source: String, _ html: String, _ text: String) {
    check(source, html, text)
  }

  @Test(arguments: [
    ("<p>0<x-a>F</x-a> <var>x</var></p>", "<p>0 F <var>x</var></p>", "0 F x"),
    ("<p>0<x-a>F</x-a><var>x</var></p>", "<p>0 F <var>x</var></p>", "0 F x"),
    ("1<template></template>2", "12", "12"), ("1<noscript></noscript>2", "12", "12"),
    ("1<template>a</template>2", "1<div>a</div>2", "1\na\n2"),
  ])
  func `Elements without layout separate words only where they have some`(
    _ source: String, _ html: String, _ text: String
  ) {
    check(source, html, text)
  }

  @Test(arguments: [
    (
      "<h2><a href='https://g.example/x'></a>Title</h2>",
      "<h2><a href=\"https://g.example/x\">g.example/x</a> Title</h2>", "g.example/x Title"
    ),
    ("x<a href=/r title=R></a>y", "x <a href=\"https://a.example/r\" title=\"R\">R</a> y", "x R y"),
    ("<a href=''></a>x", "x", "x"), ("<a href='https://a.example/posts/1/'></a>x", "x", "x"),
    ("<a href=/x></a><a href=/x#n>words</a>", "<a href=\"https://a.example/x#n\">words</a>", "words"),
    ("<a href=/x>words</a><h2><a href=/x title=y></a></h2>", "<a href=\"https://a.example/x\">words</a>", "words"),
    (
      "<a href=/x></a><a href=/x><img src=/a.png></a>",
      "<a href=\"https://a.example/x\"><img src=\"https://a.example/a.png\"/></a>", ""
    ),
    ("x<a rel='NoFollow noopener' href='https://s.example/share'></a>", "x", "x"),
    ("<a rel=nofollow href=/x>words</a>", "<a href=\"https://a.example/x\">words</a>", "words"),
  ])
  func `The address of an empty link is a word, unless nobody would miss it`(
    _ source: String, _ html: String, _ text: String
  ) {
    check(source, html, text)
  }

  @Test(arguments: ["&#x;", "&#x-1;", "&#;", "&# 1", "&#", "&#xg;", "&#X."])
  func `A reference without a number is text`(_ text: String) {
    check("a \(text)b", "a \(text.replacing("&", with: "&amp;"))b", "a \(text)b")
    #expect(SafeHTML.decodingEntities("&#65;&#x42;&#X43; \(text)") == "ABC \(text)")
  }
}
