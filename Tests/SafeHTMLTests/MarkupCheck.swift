/// An independent check of a fragment that shares no code with the sanitiser: it reads tags character by character.
enum MarkupCheck {
  static let elements: Set<String> = [
    "a", "abbr", "b", "bdi", "bdo", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details", "dfn", "div",
    "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li",
    "mark", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strong", "sub", "summary", "sup",
    "table",
    "tbody", "td", "tfoot", "th", "thead", "time", "tr", "u", "ul", "var",
  ]
  static let attributes: Set<String> = [
    "alt", "cite", "colspan", "datetime", "dir", "height", "href", "id", "lang", "rowspan", "scope", "src", "start",
    "title",
    "value", "width",
  ]

  /// Returns the first fault of a fragment, or nil if there is none. A fragment may contain only allowed elements,
  /// closed in order, with allowed attributes in double quotes, links to the web, to a mail address or to a target with
  /// our prefix, and escaped text.
  static func fault(in html: String) -> String? {
    var open: [String] = []
    var rest = html[...]
    while let start = rest.firstIndex(of: "<") {
      if rest[..<start].contains(">") { return "a bare >" }
      guard let end = rest[start...].firstIndex(of: ">") else { return "a bare <" }
      let tag = rest[rest.index(after: start)..<end]
      rest = rest[rest.index(after: end)...]
      if let fault = fault(inTag: tag, open: &open) { return "\(fault) in <\(tag)>" }
    }
    if rest.contains(">") { return "a bare >" }
    return open.isEmpty ? nil : "left open: \(open)"
  }

  private static func fault(inTag tag: Substring, open: inout [String]) -> String? {
    if tag.hasPrefix("/") { return open.popLast() == String(tag.dropFirst()) ? nil : "wrong end" }
    let isVoid = tag.hasSuffix("/")
    var rest = isVoid ? tag.dropLast() : tag
    let name = String(rest.prefix { $0 != " " })
    guard elements.contains(name) else { return "element" }
    guard ["br", "hr", "img"].contains(name) == isVoid else { return "slash" }
    if !isVoid { open.append(name) }
    rest = rest.dropFirst(name.count)
    while !rest.isEmpty {
      let parts = rest.dropFirst().split(separator: "=\"", maxSplits: 1, omittingEmptySubsequences: false)
      guard rest.hasPrefix(" "), parts.count == 2, attributes.contains(String(parts[0])),
        let quote = parts[1].firstIndex(of: "\"")
      else { return "attribute" }
      let value = parts[1][..<quote]
      let isLink = ["href", "src", "cite"].contains(parts[0])
      let starts = ["http://", "https://", "mailto:"] + (parts[0] == "href" ? ["#user-content-"] : [])
      if isLink, !starts.contains(where: { value.hasPrefix($0) }) { return "link" }
      if parts[0] == "id", !value.hasPrefix("user-content-") { return "id" }
      rest = parts[1][parts[1].index(after: quote)...]
    }
    return nil
  }
}
