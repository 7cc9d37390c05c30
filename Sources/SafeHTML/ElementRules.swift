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

  /// The elements that are dropped with all their content.
  static let dropped: Set<String> = [
    "applet", "audio", "button", "canvas", "datalist", "dialog", "form", "frameset", "head", "iframe", "map", "math",
    "menu", "noembed", "noframes", "noscript", "object", "optgroup", "option", "plaintext", "progress", "script",
    "select", "style", "svg", "template", "textarea", "title", "video", "xmp",
  ]

  /// The elements that never have content (HTML Standard section 13.1.2). The parser knows only the older ones, and
  /// would read the text after the others as their content.
  private static let void: Set<String> = [
    "area", "base", "basefont", "bgsound", "br", "col", "command", "embed", "frame", "hr", "img", "input", "isindex",
    "keygen", "link", "meta", "param", "source", "track", "wbr",
  ]

  static func isVoid(_ name: String) -> Bool { void.contains(name) }

  static func isKnown(_ name: String) -> Bool {
    rules[name] != nil || dropped.contains(name) || void.contains(name) || ["body", "html", "image"].contains(name)
  }

  static func rule(for name: String) -> Rule? { rules[name] }

  /// Returns the validated attributes in a fixed order; nil if a required one is missing.
  static func attributes(
    _ given: [(name: String, value: String)], for rule: Rule, base: URL?
  ) -> [(name: String, value: String)]? {
    var kept: [(name: String, value: String)] = []
    for name in rule.attributes + ["dir", "lang"] {
      let value = given.first { $0.name == name }.flatMap { checked($0.value, of: name, base: base) }
      if let value {
        kept.append((name, value))
      } else if rule.required.contains(name) {
        return nil
      }
    }
    return kept
  }

  private static func checked(_ value: String, of name: String, base: URL?) -> String? {
    switch name {
    case "href": return SafeLink.resolve(value, base: base, allowingMail: true)
    case "src", "cite": return SafeLink.resolve(value, base: base, allowingMail: false)
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

  private static func number(_ value: String, in range: ClosedRange<Int>) -> String? {
    guard value.utf8.count <= 32 else { return nil }
    let digits = value.hasSuffix("px") ? value.dropLast(2) : value[...]
    return Int(digits.trimmingCharacters(in: .whitespaces)).flatMap { range.contains($0) ? String($0) : nil }
  }

  private static func line(_ value: String) -> String {
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
    rename("article aside center fieldset footer header main nav section address", to: "div", .line)
    rename("acronym", to: "abbr", .inline)
    rename("strike", to: "s", .inline)
    rename("tt", to: "code", .inline)
    rename("dir listing", to: nil, .block)
    rename("big blink data font label legend marquee nobr picture rb rtc span", to: nil, .inline)
    return rules
  }()
}
