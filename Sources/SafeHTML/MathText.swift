internal import Foundation

/// The words of a formula in MathML: what its author wrote for people who do not see it, its TeX, or else one line that
/// reads like `e^kt` or `(a+b)/2`. A formula in a script, as kramdown and MathJax 2 write it, has only its source.
struct MathText {
  private struct Element {
    var name: String
    var start: Int
    var children = 0
    /// Whether the content has an operator, so that it needs parentheses beside another operator.
    var hasOperator = false
    var closing = ""
  }

  let isBlock: Bool
  let isScript: Bool
  private let isMarkup: Bool
  private let alternative: String
  private var annotation: [UInt8] = []
  private var line: [UInt8] = []
  private var open: [Element] = []

  init(_ attributes: [MarkupAttribute]) {
    let text = attributes.first { $0.name == "alttext" }?.value ?? ""
    alternative = Self.plain(ElementRules.line(text))
    isBlock = attributes.contains { $0.name == "display" && $0.value == "block" }
    (isScript, isMarkup) = (false, false)
  }

  /// Reads a script such as `<script type="math/tex; mode=display">`; nil for a script that is no formula.
  init?(script attributes: [MarkupAttribute]) {
    let written = attributes.first { $0.name == "type" }?.value ?? ""
    let type = String(decoding: written.utf8.prefix(64).filter { $0 > 0x20 }, as: UTF8.self).lowercased()
    guard type.utf8.starts(with: "math/".utf8) else { return nil }
    alternative = ""
    isBlock = type.utf8.contains(Array("display".utf8))
    (isScript, isMarkup) = (true, type.utf8.starts(with: "math/mml".utf8))
    open = [Element(name: "annotation", start: 0)]
  }

  var text: String {
    if !alternative.isEmpty { return alternative }
    let written = String(decoding: annotation, as: UTF8.self)
    if isMarkup { return ElementRules.line(FragmentBuilder.words(of: written)) }
    let source = Self.plain(ElementRules.line(isScript ? Self.unwrapped(written) : written))
    return source.isEmpty ? ElementRules.line(String(decoding: line, as: UTF8.self)) : source
  }

  /// Removes the section that keeps XML from reading a script, and the references of XML.
  private static func unwrapped(_ text: String) -> String {
    let marks = [("% <![CDATA[", ""), ("<![CDATA[", ""), ("%]]>", ""), ("]]>", "")]
    let references = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
    return (marks + references).reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1, options: .literal) }
  }

  /// Removes the wrapper that MediaWiki puts around TeX.
  private static func plain(_ text: String) -> String {
    let wrapper = "{\\displaystyle "
    guard text.hasPrefix(wrapper), text.hasSuffix("}") else { return text }
    return String(text.dropFirst(wrapper.count).dropLast()).trimmingCharacters(in: .whitespaces)
  }

  mutating func start(_ name: String, _ attributes: [MarkupAttribute]) {
    if let parent = open.last {
      line += separator(in: parent.name, before: parent.children).utf8
      open[open.count - 1].children += 1
    }
    var element = Element(name: name, start: line.count)
    switch name {
    case "msqrt", "mroot": line += "√".utf8
    case "mspace": line.append(UInt8(ascii: " "))
    case "mfenced":
      func mark(_ name: String, _ fallback: String) -> String {
        attributes.first { $0.name == name && $0.value.utf8.count <= 16 }?.value ?? fallback
      }
      line += mark("open", "(").utf8
      element.closing = mark("close", ")")
    default: break
    }
    if name != "mfenced" { element.start = line.count }
    open.append(element)
  }

  mutating func end() {
    guard let element = open.popLast() else { return }
    line += element.closing.utf8
    if element.name == "mo", element.start < line.count { markOperator() }
    guard var parent = open.popLast() else { return }
    let isRadicand = element.name == "msqrt"
    if isRadicand, element.hasOperator {
      wrap(from: element.start)
    } else if element.hasOperator, Self.joins.contains(parent.name) {
      wrap(from: element.start)
    } else if !isRadicand {
      parent.hasOperator = parent.hasOperator || element.hasOperator || element.name == "mfrac"
    }
    open.append(parent)
  }

  mutating func append(_ bytes: [UInt8]) {
    guard let name = open.last?.name else { return }
    if open.contains(where: { $0.name == "annotation-xml" }) { return }
    if name == "annotation" {
      annotation += bytes
      return
    }
    let text = ElementRules.line(String(decoding: bytes, as: UTF8.self))
    guard !text.isEmpty else { return }
    if name == "mtext" {
      line += bytes
    } else {
      // Invisible operators, such as U+2062 INVISIBLE TIMES.
      line += String(String.UnicodeScalarView(text.unicodeScalars.filter { !(0x2061...0x2064 ~= $0.value) })).utf8
    }
  }

  private mutating func markOperator() {
    guard let index = open.indices.last else { return }
    open[index].hasOperator = true
  }

  private static let joins: Set<String> = [
    "mfrac", "mover", "mroot", "msub", "msubsup", "msup", "munder", "munderover",
  ]

  private mutating func wrap(from start: Int) {
    if line[start...].first == UInt8(ascii: "("), line.last == UInt8(ascii: ")") { return }
    line.insert(UInt8(ascii: "("), at: start)
    line.append(UInt8(ascii: ")"))
  }

  private func separator(in name: String, before child: Int) -> String {
    switch (name, child) {
    case (_, 0): ""
    case ("msup", _), ("mover", _), ("msubsup", 2), ("munderover", 2): "^"
    case ("msub", _), ("munder", _), ("msubsup", _), ("munderover", _): "_"
    case ("mfrac", _): "/"
    case ("mroot", _): " root of degree "
    case ("mtable", _): "; "
    case ("mtr", _), ("mlabeledtr", _): " "
    case ("mfenced", _): ","
    default: ""
    }
  }
}
