internal import SafeHTML

/// An element of a feed, kept while its entry is parsed.
final class FeedElement {
  enum Node {
    case text([UInt8])
    case element(FeedElement)
  }

  let name: FeedName
  let attributes: [FeedAttribute]
  /// The line at which the start tag ends.
  let line: Int
  private(set) var content: [Node] = []
  /// Whether some of the direct text is a CDATA section.
  var hasCDATA = false

  init(name: FeedName, attributes: [FeedAttribute], line: Int) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }

  var children: [FeedElement] {
    content.compactMap { if case .element(let element) = $0 { element } else { nil } }
  }

  /// The text directly inside the element, without that of its children.
  var text: String {
    var bytes: [UInt8] = []
    for case .text(let piece) in content { bytes += piece }
    return String(decoding: bytes, as: UTF8.self)
  }

  func append(_ bytes: some Collection<UInt8>) {
    if case .text(var piece)? = content.last {
      // The node is removed first, so that its bytes are not copied for each piece from the parser.
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

  /// The value of an attribute without a namespace.
  subscript(name: String) -> String? {
    attributes.first { $0.space == .none && $0.name == name }?.value
  }

  /// Returns the value of an attribute of the XML namespace.
  func xml(_ name: String) -> String? {
    attributes.first { $0.space == .xml && $0.name == name }?.value
  }

  func first(_ space: FeedNamespace, _ name: String) -> FeedElement? {
    children.first { $0.name == FeedName(space: space, local: name) }
  }

  func all(_ space: FeedNamespace, _ name: String) -> [FeedElement] {
    children.filter { $0.name == FeedName(space: space, local: name) }
  }

  /// The relation of a link in lower case (RFC 4287 section 4.2.7.2); `alternate` if it is missing. A longer value is not
  /// a relation, and comparing it would take time quadratic in its combining marks.
  var relation: String {
    guard let written = self["rel"]?.trimmed.nonEmpty else { return "alternate" }
    guard written.utf8.count <= 256 else { return "" }
    let relation = written.lowercased()
    let registry = "http://www.iana.org/assignments/relation/"
    return relation.hasPrefix(registry) ? String(relation.dropFirst(registry.count)) : relation
  }

  /// The target of a link: its `href`, or else its text, as in RSS.
  var target: String? { self["href"]?.trimmed.nonEmpty ?? text.trimmed.nonEmpty }

  /// Returns the text of the first child of that name that has any text.
  func value(_ space: FeedNamespace, _ name: String) -> String? {
    all(space, name).lazy.compactMap { $0.text.trimmed.nonEmpty }.first
  }

  /// Detects two entries that ran together, because the tags between them or the end of a CDATA section are missing.
  ///
  /// - Parameter names: The child that identifies an entry, and others that occur once. Titles in two languages are no
  ///   evidence.
  /// - Returns: The evidence as a message; nil if there is none.
  func evidence(ofTwoEntries names: [String]) -> String? {
    // The values are compared as bytes, because hashing characters takes time quadratic in their combining marks.
    let different = names.filter { name in Set(all(self.name.space, name).map { Array($0.text.trimmed.utf8) }).count > 1
    }
    if different.first == names.first || different.count > 1, let name = different.first {
      return "has two different elements \"\(name)\" and may be two entries"
    }
    return hasOpenSection(within: name.local) ? "has a nested CDATA section and may be two entries" : nil
  }

  /// Whether a CDATA section has swallowed the end of its own element and the start of another section or entry. The words
  /// alone are those of a text about XML.
  private func hasOpenSection(within entry: String) -> Bool {
    if hasCDATA {
      let bytes = Array(text.utf8)
      let ends = ["</\(name.local)>", ":\(name.local)>"].compactMap { bytes.firstRange(of: $0.utf8)?.upperBound }
      let starts = ["<![CDATA[", "<\(entry)>", "<\(entry) "]
      if let end = ends.min(), starts.contains(where: { bytes[end...].firstRange(of: $0.utf8) != nil }) { return true }
    }
    return children.contains { $0.hasOpenSection(within: entry) }
  }

  var hasElements: Bool {
    content.contains { if case .element = $0 { true } else { false } }
  }

  /// Returns the content as HTML. Namespaces are dropped here, and unknown elements later by the sanitiser. Links below
  /// an `xml:base` are made absolute, because HTML has no equivalent.
  ///
  /// - Parameters:
  ///   - base: The URL to which the element's own `xml:base` is relative.
  ///   - kind: The meaning of the direct text beside the elements.
  func markup(within base: String?, texts kind: RawText.Kind = .plain) -> String {
    var output: [UInt8] = []
    let links = Links(base: base, isWritten: false).inside(self)
    if kind == .plain || !text.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }) {
      writeContent(to: &output, links)
    } else {
      let texts = texts(kind)
      output += texts[0]
      for (element, text) in zip(children, texts.dropFirst()) {
        element.write(to: &output, links.inside(element))
        output += text
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Returns the direct text as HTML, in the parts before, between and after the child elements. The parts are read
  /// together, because both tags of a pair may be in different ones.
  private func texts(_ kind: RawText.Kind) -> [ArraySlice<UInt8>] {
    // Stands for a child element. XML has no NUL.
    let mark = Array(" <\u{0}> ".utf8)
    var whole: [UInt8] = []
    for node in content {
      if case .text(let bytes) = node { whole += bytes } else { whole += mark }
    }
    if kind == .unsure { whole = Array(TagReading(String(decoding: whole, as: UTF8.self), isLine: false).source.utf8) }
    return whole.split(separator: mark, omittingEmptySubsequences: false)
  }

  private struct Links {
    var base: String?
    /// Whether the base comes from an `xml:base` of the markup.
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

  /// Returns the name of an attribute in HTML; nil if HTML has no such attribute. A parser of HTML uses the first of two
  /// attributes with one name.
  private func name(inHTML attribute: FeedAttribute) -> String? {
    switch (attribute.space, attribute.name) {
    case (.none, let name): name
    case (.xlink, "href"): "xlink:href"
    case (.xml, "lang"), (.xml, "id"): self[attribute.name] == nil ? attribute.name : nil
    default: nil
    }
  }

  private func write(to output: inout [UInt8], _ links: Links) {
    output += "<\(name.local)".utf8
    for attribute in attributes {
      guard let name = name(inHTML: attribute) else { continue }
      output += " \(name)=\"".utf8
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

/// The vocabularies of entries. `none` is that of RSS, which has no namespace of its own.
enum FeedNamespace: Sendable {
  case none, atom, content, dublinCore, itunes, media, syndication, xhtml, xlink, xml, rdf, wordpress, publishing
  case blogger, googlePlay, podcast, feedburner
  case other

  /// Finds a namespace by its URI, or by the usual prefix if a feed does not declare it.
  init(uri: String?, prefix: String?) {
    if let uri {
      self = Self.known[uri] ?? Self.similar[Self.simplified(uri)] ?? Self.family(of: uri, prefix: prefix)
    } else {
      self = prefix.map { Self.prefixes[$0] ?? Self.family(of: "", prefix: $0) } ?? FeedNamespace.none
    }
  }

  /// The usual prefixes.
  private static let prefixes: [String: FeedNamespace] = [
    "content": .content, "dc": .dublinCore, "dcterms": .dublinCore, "itunes": .itunes, "googleplay": .googlePlay,
    "podcast": .podcast, "media": .media, "feedburner": .feedburner, "atom": .atom, "sy": .syndication,
    "xhtml": .xhtml, "xlink": .xlink, "xml": .xml,
  ]

  /// Finds a vocabulary of states, whose URI has a version. The usual prefix is enough, because an unknown version must
  /// not publish a draft.
  private static func family(of uri: String, prefix: String?) -> FeedNamespace {
    let name = simplified(uri)
    if name.hasPrefix("http://wordpress.org/export") || prefix == "wp" { return .wordpress }
    if name.hasPrefix("http://schemas.google.com/blogger/") || prefix == "blogger" { return .blogger }
    return prefix == "app" ? .publishing : .other
  }

  /// The known namespaces by simplified URI. Publishers write `https`, another case, or a slash too many or too few.
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
    "http://backend.userland.com/rss2.1": .none,
    "http://backend.userland.com/rss": .none,
    "http://blogs.law.harvard.edu/tech/rss": .none,
    "http://www.w3.org/2005/Atom": .atom,
    "http://purl.org/atom/ns#": .atom,
    "http://purl.org/rss/1.0/modules/content/": .content,
    "http://purl.org/dc/elements/1.1/": .dublinCore,
    "http://purl.org/dc/terms/": .dublinCore,
    "http://www.itunes.com/dtds/podcast-1.0.dtd": .itunes,
    "http://www.google.com/schemas/play-podcasts/1.0": .googlePlay,
    "https://podcastindex.org/namespace/1.0": .podcast,
    "https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": .podcast,
    "http://purl.org/rss/1.0/modules/syndication/": .syndication,
    "http://search.yahoo.com/mrss/": .media,
    "http://www.rssboard.org/media-rss": .media,
    "http://www.w3.org/1999/xhtml": .xhtml,
    "http://www.w3.org/1999/xlink": .xlink,
    "http://www.w3.org/XML/1998/namespace": .xml,
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": .rdf,
    "http://rssnamespace.org/feedburner/ext/1.0": .feedburner,
    "http://www.w3.org/2007/app": .publishing,
    "http://purl.org/atom/app#": .publishing,
  ]
}

struct FeedName: Hashable {
  var space: FeedNamespace
  var local: String
}

struct FeedAttribute {
  var space: FeedNamespace
  var name: String
  var value: String
}
