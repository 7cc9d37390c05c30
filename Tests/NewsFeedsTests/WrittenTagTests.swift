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
      "Is a<b>c true?",
    ])
  func words(text: String) throws {
    let found = try read(text)
    #expect(found.title == text)
    #expect(found.text == text)
    #expect(found.atom == text)
  }

  @Test("are markup after a document type at the start of a description", arguments: ["", " ", "\n "])
  func documentType(blanks: String) throws {
    #expect(try read("\(blanks)<!DOCTYPE html>Fog & rain").text == "Fog & rain")
    #expect(try read("<!DOCTYPE html> explained").title == "<!DOCTYPE html> explained")
  }

  @Test(
    "are markup where they act",
    arguments: [
      ("<b>Bold</b> news", "Bold news"), ("A <em>very</em> good <a href='x'>link</a>", "A very good link"),
      ("AT&amp;T", "AT&T"), ("First<br>Second", "First\nSecond"), ("H<sub>2</sub>O", "H2O"),
      ("<p>One<p>Two", "One\n\nTwo"), ("<i>Cut off here", "Cut off here"),
      ("<b>Use</b> <script> and <Foo> now", "Use <script> and <Foo> now"), ("a < b &amp;amp; c", "a < b &amp; c"),
      ("<b>Use</b> Map<K, V> now", "Use Map<K, V> now"),
    ])
  func markup(text: String, plain: String) throws {
    let found = try read(text)
    let line = plain.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(found.text == plain)
    #expect(found.title == line)
    #expect(found.atom == line)
  }

  @Test(
    "are words in titles and descriptions if they can show nothing there",
    arguments: [
      "How <input type=\"date\"> works", "Set <meta name=\"viewport\" content=\"width=1\"> first",
      "Why <link rel=\"preload\"> matters", "Add <html lang=\"en\"> to pages", "<a target=\"_blank\"> is dangerous",
      "A <div class=\"row\"> grid", "What <img loading=\"lazy\"> does", "Is <script async=\"\"> slow?",
      "The <button type='submit'>, explained", "<input type=\"date\"> explained", "Prefer <video controls=\"\">",
      "Never use <a href=\"#\"> for buttons",
    ])
  func attributes(text: String) throws {
    let found = try read(text)
    #expect(found.title == text)
    #expect(found.text == text)
    #expect(found.atom == text)
  }

  @Test(
    "are words if a sentence names both tags of a pair",
    arguments: [
      "The <details> and </details> tags", "From <p> to </p>", "The <b> and </b> tags", "Write <ul> \u{2026} </ul>",
      "Wrap it in <em>\u{2026}</em> please", "Put <script> your code here </script> at the end",
      "The <iframe></iframe> element", "Use <div class=\"clear\"></div> to clear floats", "<p> and </p> differ",
      "Zwischen <table> und </table> steht", "Both <h1> & </h1>", "An empty <b></b> pair", "The <b>...</b> pair",
      "Write <b>...</b>!",
    ])
  func pairs(text: String) throws {
    let found = try read(text)
    #expect(found.title == text)
    #expect(found.text == text)
    #expect(found.atom == text)
  }

  @Test(
    "are words if a conjunction of any language stands between them",
    arguments: [
      "Les balises <b> et </b> du texte", "Entre <i> y </i> va el texto", "Die Tags <B> und </B> sind alt",
      "Tussen <em> en </em> staat tekst", "Теги <b> и </b> нужны", "标签 <b> 和 </b> 之间", "From <code> until </code>",
      "Write <ol> ... </ol> around it", "The <math> and </math> tags",
    ])
  func conjunctions(text: String) throws {
    let found = try read(text)
    #expect(found.title == text)
    #expect(found.text == text)
  }

  @Test(
    "are markup around short words that join nothing",
    arguments: [
      ("by <a href='http://e.org/u'> neuhmz </a> to", "by neuhmz to"), ("We are <i> so </i> back", "We are so back"),
      ("<p> hello </p> <p> world </p>", "hello\n\nworld"), ("<ul> <li> one </li> <li> or </li> </ul>", "one\nor"),
      ("x <a href='http://e.org/'>...</a>", "x ..."), ("<pre>x <span>\u{2026}</span></pre>", "x \u{2026}"),
      ("see <a href='/x'> and </a> go", "see and go"), ("<b>Salt</b> <i> and </i> <b>pepper</b>", "Salt and pepper"),
      ("<b>Pier</b> is <b>...</b> open", "Pier is ... open"), ("<b>...</b> is open", "... is open"),
      ("salt <i> and </i> oil <i> or </i> tar", "salt and oil or tar"),
      ("<h2> top </h2> news", "top\n\nnews"), ("<td> a </td> <td> b </td>", "a b"),
    ])
  func shortWords(text: String, plain: String) throws {
    let found = try read(text)
    let line = plain.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(found.text == plain)
    #expect(found.title == line)
    #expect(found.atom == line)
  }

  @Test(
    "are markup around the elements of a formula or a drawing",
    arguments: [
      ("Sum <math><mi>a</mi></math> ok", "Sum a ok"), ("Sum <MATH> <mi> a </mi> </MATH> ok", "Sum a ok"),
      ("<math><msup><mi>a</mi><mn>2</mn></msup></math> ok", "a^2 ok"),
      ("Logo <svg><circle r='1'/></svg> ok", "Logo ok"),
      ("A <mml:math><mml:msup><mml:mi>a</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math> ok", "A a^2 ok"),
      ("Logo <svg> <path d='M0'/> </svg> ok", "Logo ok"), ("x <svg><text>a</text></svg> y", "x a y"),
    ])
  func formulas(text: String, plain: String) throws {
    let found = try read(text)
    #expect(found.text == plain)
    #expect(found.title == plain)
    #expect(found.atom == plain)
  }

  @Test(
    "break lines before and after marks that quote something else",
    arguments: [
      ("текст <br />— ответ", "текст\n— ответ"), ("one <br>“two”", "one\n“two”"), ("a <br/>... b", "a\n... b"),
      ("Hello. <hr>“Quote”", "Hello.\n\n“Quote”"), ("one <br>\"two\"", "one\n\"two\""), ("one <br>• two", "one\n• two"),
      ("“One”<br> Two", "“One”\nTwo"), ("\"one\"<br>\"two\" x", "\"one\"\n\"two\" x"), ("One…<br> two", "One…\ntwo"),
      ("One —<br> two", "One —\ntwo"), ("one <br>'tis", "one\n'tis"), ("one <p>“two”", "one\n\n“two”"),
    ])
  func lines(text: String, plain: String) throws {
    #expect(try read(text).text == plain)
  }

  @Test(
    "are words inside of quotation marks and brackets",
    arguments: [
      "The \"<br>\" tag", "Use “<br>” here", "„<br>“ trennt", "`<br>` breaks", "(<br>) breaks", "Use “<hr>”, not <p>",
      "Why <br>? It breaks", "‘<br/>’",
    ])
  func quotations(text: String) throws {
    #expect(try read(text).text == text)
  }

  @Test(
    "are words where a sentence goes on around a block",
    arguments: [
      "Never put a <p> inside another <p>.", "<div> or <span>? A guide", "A <td> belongs to a <tr>",
      "Both <li> and <li> again", "What <blockquote> means", "The <br> tag", "A <br>-tag breaks", "Use <br>, not <p>",
      "<p> considered harmful", "Is a <dt> without <dd> valid?", "The <hr> element", "Use <hr/>.",
      "Use <p>,<div>,<td> here", "The tag \u{2014}<p>\u{2014} starts", "Long <wbr> words",
    ])
  func blocks(text: String) throws {
    let found = try read(text)
    #expect(found.title == text)
    #expect(found.text == text)
  }

  @Test(
    "with attributes are markup where they show something",
    arguments: [
      ("<i class=\"icon\"></i> News", "News"), ("<span style='color:red'>Cut off", "Cut off"),
      ("<a href='/x'>Link</a> here", "Link here"), ("One<br clear=\"all\">two", "One\ntwo"),
      ("<img src='https://a.example/x.png' alt='Flag'> Berlin", "Flag Berlin"),
      ("<img src='/x.png' alt='Flag'> Berlin", "Flag Berlin"),
      ("<font color=red>Red</font> alert", "Red alert"), ("<div class=x>Words</div>", "Words"),
      ("<p align=left>Words", "Words"), ("Hello,<br> you", "Hello,\nyou"),
      ("<b>Note</b>: the <ul> and </ul> tags", "Note: the <ul> and </ul> tags"),
      ("<a href='https://a.example/'>Cut off", "Cut off"), ("safe<svg width=1><text>x</text></svg>", "safe x"),
    ])
  func shown(text: String, plain: String) throws {
    let found = try read(text)
    #expect(found.text == plain)
    #expect(found.title == plain.split(whereSeparator: \.isWhitespace).joined(separator: " "))
  }

  @Test(
    "in descriptions are markup between sentences and lines",
    arguments: [
      ("First line <br> second line", "First line\nsecond line"), ("First <hr> second", "First\n\nsecond"),
      ("One two. <p> Three four.", "One two.\n\nThree four."), ("<div class=x> The pier.", "The pier."),
      ("<p> The pier. </p>", "The pier."), ("A picture <img src='a.png' alt='Pier'> here", "A picture Pier here"),
      ("A picture <img srcset='/a.png 2x' alt='Pier'> here", "A picture Pier here"),
      ("<li> One <li> Two <li> Three", "One\nTwo\nThree"), ("One\n<p>\nTwo", "One\n\nTwo"),
      ("Intro. <blockquote> Quoted words </blockquote>", "Intro.\n\nQuoted words"),
      ("Watch <iframe src='https://v.example/1'></iframe> now", "Watch\nv.example/1\nnow"),
      ("<p> Ja </p>", "Ja"), ("First <br/> second", "First\nsecond"),
      ("One two… <p> Three four.", "One two…\n\nThree four."), ("潮が引く。 <p> 潮が満ちる。", "潮が引く。\n\n潮が満ちる。"),
      ("“One two” <p> Three four.", "“One two”\n\nThree four."), ("«Un deux» <p> Trois.", "«Un deux»\n\nTrois."),
      ("潮が引く！ <p> 潮が満ちる。", "潮が引く！\n\n潮が満ちる。"), ("潮が引く？ <p> 潮が満ちる。", "潮が引く？\n\n潮が満ちる。"),
    ])
  func sentences(text: String, plain: String) throws {
    #expect(try read(text).text == plain)
  }

  @Test(
    "of a text that is declared as HTML are markup even if they stand alone",
    arguments: [
      ("First line <br> second line", "First line\nsecond line"), ("One <p> two", "One\n\ntwo"),
      ("One <hr> two", "One\n\ntwo"), ("One <li> two", "One\ntwo"), ("One <hr/> two", "One\n\ntwo"),
      ("The <iframe> tag", "The <iframe> tag"), ("Use <Foo> & <T>", "Use <Foo> & <T>"), ("a <!-- b", "a <!-- b"),
      ("When <script> tags block", "When <script> tags block"), ("One <br/> two", "One\ntwo"),
      ("One <img src='//a.example/a.png' alt=Pier> two", "One Pier two"), ("Line<br>", "Line"),
    ])
  func declared(text: String, plain: String) throws {
    let item = try entry(
      atom("<entry><id>1</id><updated>2026-01-01</updated><content type='html'>\(escaped(text))</content></entry>"))
    #expect(item.text == plain)
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
