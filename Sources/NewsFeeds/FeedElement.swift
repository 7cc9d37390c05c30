internal import SafeHTML

/// An element of a feed while its entry is read.
final class FeedElement {
  enum Node {
    case text([UInt8])
    case element(FeedElement)
  }

  let name: FeedName
  let attributes: [FeedAttribute]
  /// The line where the start tag ends.
  let line: Int
  private(set) var content: [Node] = []
  /// Whether some of the text directly inside is a CDATA section.
  var hasCDATA = false

  init(name: FeedName, attributes: [FeedAttribute], line: Int) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }

  var children: [FeedElement] {
    content.compactMap { if case .element(let element) = $0 { element } else { nil } }
  }

  /// The text directly inside.
  var text: String {
    var bytes: [UInt8] = []
    for case .text(let piece) in content { bytes += piece }
    return String(decoding: bytes, as: UTF8.self)
  }

  func append(_ bytes: some Collection<UInt8>) {
    if case .text(var piece)? = content.last {
      // Taken out first, so that the bytes are not copied for each piece the parser delivers.
      content.removeLast()
      piece += bytes
      content.append(.text(piece))
    } else {
      content.append(.text(Array(bytes)))
    }
  }

  func append(_ element: FeedElement) {
    content.append(.element(element))
  }

  /// The value of an attribute without namespace.
  subscript(name: String) -> String? {
    attributes.first { $0.space == .none && $0.name == name }?.value
  }

  /// The value of an attribute of the XML namespace.
  func xml(_ name: String) -> String? {
    attributes.first { $0.space == .xml && $0.name == name }?.value
  }

  func first(_ space: FeedNamespace, _ name: String) -> FeedElement? {
    children.first { $0.name == FeedName(space: space, local: name) }
  }

  func all(_ space: FeedNamespace, _ name: String) -> [FeedElement] {
    children.filter { $0.name == FeedName(space: space, local: name) }
  }

  /// The text of the first child of that name which has any.
  func value(_ space: FeedNamespace, _ name: String) -> String? {
    all(space, name).lazy.compactMap { $0.text.trimmed.nonEmpty }.first
  }

  /// What shows that two entries have run together because the tags between them, or the end of a CDATA section, got
  /// lost.
  ///
  /// - Parameter names: Children that an entry has once.
  func sign(ofTwoEntries names: [String]) -> String? {
    for name in names {
      // By bytes: to hash characters takes time that grows with the square of their combining marks.
      let values = Set(all(self.name.space, name).map { Array($0.text.trimmed.utf8) })
      if values.count > 1 { return "has two elements \"\(name)\", as if it were two entries" }
    }
    let marks = ["<![CDATA[", "</\(name.local)>"]
    return hasCDATA(with: marks) ? "has a CDATA section with another one inside, as if it were two entries" : nil
  }

  private func hasCDATA(with marks: [String]) -> Bool {
    if hasCDATA {
      let text = text
      if marks.contains(where: text.contains) { return true }
    }
    return children.contains { $0.hasCDATA(with: marks) }
  }

  var hasElements: Bool {
    content.contains { if case .element = $0 { true } else { false } }
  }

  /// The content as HTML; namespaces are dropped, the sanitiser drops what it does not know. Links below an `xml:base`
  /// are made absolute, because HTML has nothing like it.
  ///
  /// - Parameter base: What the element's own `xml:base` refers to.
  func markup(within base: String?) -> String {
    var output: [UInt8] = []
    let links = Links(base: base, isWritten: false).inside(self)
    writeContent(to: &output, links)
    return String(decoding: output, as: UTF8.self)
  }

  private struct Links {
    var base: String?
    /// Whether an element of the markup says so.
    var isWritten: Bool

    func inside(_ element: FeedElement) -> Links {
      element.xml("base").flatMap { SafeLink.web($0, base: base) }.map { Links(base: $0, isWritten: true) } ?? self
    }

    func value(of attribute: FeedAttribute) -> String {
      guard isWritten, ["href", "src", "cite", "poster"].contains(attribute.name) else { return attribute.value }
      return SafeLink.web(attribute.value, base: base) ?? attribute.value
    }
  }

  private func writeContent(to output: inout [UInt8], _ links: Links) {
    for node in content {
      switch node {
      case .text(let bytes): Markup.appendEscaped(bytes, to: &output)
      case .element(let element): element.write(to: &output, links.inside(element))
      }
    }
  }

  private func write(to output: inout [UInt8], _ links: Links) {
    output += "<\(name.local)".utf8
    for attribute in attributes where attribute.space == .none {
      output += " \(attribute.name)=\"".utf8
      Markup.appendEscaped(Array(links.value(of: attribute).utf8), to: &output)
      output.append(UInt8(ascii: "\""))
    }
    if content.isEmpty {
      output += "/>".utf8
    } else {
      output.append(UInt8(ascii: ">"))
      writeContent(to: &output, links)
      output += "</\(name.local)>".utf8
    }
  }
}

/// The vocabularies an entry is made of. `none` is that of RSS, which has no namespace of its own.
enum FeedNamespace: Sendable {
  case none, atom, content, dublinCore, media, xhtml, xml, rdf, other

  /// By the URI, or by the usual prefix where a feed forgot to declare it.
  init(uri: String?, prefix: String?) {
    if let uri {
      self = Self.known[uri] ?? Self.similar[Self.simplified(uri)] ?? .other
    } else {
      self =
        switch prefix {
        case nil: .none
        case "content": .content
        case "dc": .dublinCore
        case "media": .media
        case "atom": .atom
        case "xml": .xml
        default: .other
        }
    }
  }

  /// By what is left where publishers write `https`, another case, or a slash too many or too few.
  private static let similar = Dictionary(known.map { (simplified($0), $1) }, uniquingKeysWith: { first, _ in first })

  private static func simplified(_ uri: String) -> String {
    let name = uri.trimmed.lowercased().replacing("https://", with: "http://", maxReplacements: 1)
    return name.hasSuffix("/") ? String(name.dropLast()) : name
  }

  private static let known: [String: FeedNamespace] = [
    "": .none,
    "http://purl.org/rss/1.0/": .none,
    "http://my.netscape.com/rdf/simple/0.9/": .none,
    "http://channel.netscape.com/rdf/simple/0.9/": .none,
    "http://backend.userland.com/rss2": .none,
    "http://backend.userland.com/rss": .none,
    "http://blogs.law.harvard.edu/tech/rss": .none,
    "http://www.w3.org/2005/Atom": .atom,
    "http://purl.org/atom/ns#": .atom,
    "http://purl.org/rss/1.0/modules/content/": .content,
    "http://purl.org/dc/elements/1.1/": .dublinCore,
    "http://purl.org/dc/terms/": .dublinCore,
    "http://search.yahoo.com/mrss/": .media,
    "http://www.rssboard.org/media-rss": .media,
    "http://www.w3.org/1999/xhtml": .xhtml,
    "http://www.w3.org/XML/1998/namespace": .xml,
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": .rdf,
  ]
}

/// An element's name.
struct FeedName: Hashable {
  var space: FeedNamespace
  var local: String
}

/// An attribute.
struct FeedAttribute {
  var space: FeedNamespace
  var name: String
  var value: String
}
