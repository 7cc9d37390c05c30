internal import Foundation

/// The elements and attributes that a fragment may have.
///
/// The list is that of common feed readers: text, lists, tables and pictures. Nothing in it runs, loads a document,
/// takes input or applies styles.
enum ElementRules {
  /// The layout of an element in plain text.
  enum Layout: Sendable {
    case inline, cell, line, block
  }

  /// The treatment of an element.
  struct Rule: Sendable {
    /// The tag that is written; nil keeps only the content.
    let tag: String?
    let layout: Layout
    /// The allowed attributes besides `lang` and `dir`, which every element may have.
    let attributes: [String]
    /// The attributes without which the tag is omitted.
    var required: [String] = []
    var isPreformatted = false
    var keepsWhenEmpty = false

    /// Whether the element ends an open paragraph. Blocks cannot be inside one. Cells and rows are inside a table,
    /// which has ended the paragraph already.
    var closesParagraph: Bool { layout == .block || layout == .line && tag == "div" }
  }

  /// The elements that are dropped with all their content, which is not text for readers.
  static let dropped: Set<String> = ["metadata", "script", "style"]

  /// The elements that never have content (HTML Standard section 13.1.2). The parser knows only the older ones, and
  /// would read the text after the others as their content.
  private static let void: Set<String> = [
    "area", "base", "basefont", "bgsound", "br", "col", "command", "embed", "frame", "hr", "img", "input", "isindex",
    "keygen", "link", "meta", "param", "source", "track", "wbr",
  ]

  static func isVoid(_ name: String) -> Bool { void.contains(name) }

  /// The rule of an element; nil for an unknown one, whose content is kept. The content of a custom element is separated
  /// from what surrounds it, as most of them have a layout.
  static func rule(for name: String) -> Rule? { rules[name] ?? (name.contains("-") ? custom : nil) }

  static func isKnown(_ name: String) -> Bool { rules[name] != nil || void.contains(name) }

  /// The rule of an element whose content is only separated from what surrounds it.
  static let custom = Rule(tag: nil, layout: .cell, attributes: [])

  /// The rule of an element that a style shows as a block.
  static let styledBlock = Rule(tag: "div", layout: .line, attributes: [])

  /// Returns the validated attributes in a fixed order; nil if a required one is missing.
  static func attributes(
    _ given: [MarkupAttribute], for rule: Rule, _ links: LinkContext
  ) -> [MarkupAttribute]? {
    var kept: [MarkupAttribute] = []
    for name in rule.attributes + ["dir", "lang", "id"] {
      let value = given.first { $0.name == name }.flatMap { checked($0.value, of: name, links) }
      if let value {
        kept.append((name, value))
      } else if rule.required.contains(name) {
        return nil
      }
    }
    return kept
  }

  private static func checked(_ value: String, of name: String, _ links: LinkContext) -> String? {
    switch name {
    case "href": return links.reference(value)
    case "src", "cite": return SafeLink.resolve(value, base: links.base, allowingMail: false)
    case "id": return links.anchor(named: value)
    case "width", "height", "colspan", "rowspan": return number(value, in: 1...99_999)
    case "start", "value": return number(value, in: -99_999...99_999)
    case "dir": return word(value, of: ["ltr", "rtl", "auto"])
    case "scope": return word(value, of: ["row", "col", "rowgroup", "colgroup"])
    case "lang":
      let isTag = value.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 45 }
      return isTag && 1...35 ~= value.utf8.count ? value : nil
    default: return line(value)
    }
  }

  /// Returns the matching word. A longer text is rejected first: comparing it takes time quadratic in its combining
  /// marks.
  private static func word(_ value: String, of words: [String]) -> String? {
    value.utf8.count <= 16 ? words.first { $0 == value.lowercased() } : nil
  }

  static func number(_ value: String, in range: ClosedRange<Int>) -> String? {
    guard value.utf8.count <= 32 else { return nil }
    let digits = value.hasSuffix("px") ? value.dropLast(2) : value[...]
    return Int(digits.trimmingCharacters(in: .whitespaces)).flatMap { range.contains($0) ? String($0) : nil }
  }

  /// Puts a text on one line.
  static func line(_ value: String) -> String {
    var writer = PlainTextWriter()
    writer.append(Markup.withoutControls(value.utf8))
    return writer.text
  }

  private static let rules: [String: Rule] = {
    var rules: [String: Rule] = [:]
    func add(_ names: String, _ layout: Layout, _ attributes: [String] = [], required: [String] = []) {
      for name in names.split(separator: " ").map(String.init) {
        rules[name] = Rule(tag: name, layout: layout, attributes: attributes, required: required)
      }
    }
    func rename(_ names: String, to tag: String?, _ layout: Layout) {
      for name in names.split(separator: " ").map(String.init) {
        rules[name] = Rule(tag: tag, layout: layout, attributes: [])
      }
    }
    add("b bdi code em i kbd mark rp rt ruby s samp small strong sub sup u var", .inline)
    add("bdo", .inline, [], required: ["dir"])
    add("a", .inline, ["href", "title"], required: ["href"])
    add("abbr cite dfn", .inline, ["title"])
    add("q", .inline, ["cite"])
    add("del ins", .inline, ["cite", "datetime"])
    add("time", .inline, ["datetime"])
    add("span", .inline, [], required: ["id"])
    add("br", .line)
    add("img", .inline, ["src", "alt", "title", "width", "height"], required: ["src"])
    add("h1 h2 h3 h4 h5 h6 p figure ul dl details", .block)
    add("ol", .block, ["start"])
    add("hr", .block)
    add("blockquote", .block, ["cite"])
    add("li", .line, ["value"])
    add("dt dd caption figcaption summary div", .line)
    rules["pre"] = Rule(tag: "pre", layout: .block, attributes: [], isPreformatted: true)
    add("table", .block)
    add("thead tbody tfoot", .line)
    for (name, layout, attributes) in [
      ("tr", Layout.line, []), ("td", .cell, ["colspan", "rowspan"]), ("th", .cell, ["colspan", "rowspan", "scope"]),
    ] {
      rules[name] = Rule(tag: name, layout: layout, attributes: attributes, keepsWhenEmpty: true)
    }
    rename(
      "article aside center dialog fieldset footer form frameset header hgroup legend main nav search section address "
        + "template", to: "div", .line)
    rename("acronym", to: "abbr", .inline)
    rename("strike", to: "s", .inline)
    rename("tt", to: "code", .inline)
    rename("dir menu", to: "ul", .block)
    for name in ["listing", "plaintext", "textarea", "xmp"] { rules[name] = rules["pre"] }
    rename("big blink body data font html image marquee nobr picture rb rtc slot", to: nil, .inline)
    rename("audio button canvas applet datalist iframe label map meter noembed noframes noscript", to: nil, .cell)
    rename("object optgroup option output progress select video", to: nil, .cell)
    // Texts of drawings have their own places.
    rename("desc foreignobject svg text textpath title tspan", to: nil, .cell)
    return rules
  }()
}
