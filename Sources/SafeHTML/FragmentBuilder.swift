internal import Foundation

/// Builds the safe fragment, the text and the lists of pictures and recordings from the events of a scan.
final class FragmentBuilder: HTMLBuilder {
  /// The maximum nesting depth of the fragment. Deeper elements lose their tags, not their text.
  static let maximumNesting = 100
  /// The elements that a browser does not show. Without content, they do not separate words.
  private static let hidden: Set<String> = ["datalist", "noembed", "noframes", "noscript", "template"]

  /// The treatment of an open element of the source.
  enum Treatment {
    /// The tag is in the fragment from `start` on. An element with an id is kept if it is empty.
    case written(tag: String, start: Int, hasID: Bool)
    /// Only the content is in the fragment, or the end tag is already written.
    case unwrapped
    /// The element is dropped with everything inside.
    case dropped
    /// A formula, or an element inside of it.
    case math, inMath
  }

  struct OpenElement {
    let name: String
    let rule: ElementRules.Rule?
    var treatment: Treatment
    /// The offset of the content in the fragment.
    var content = 0
    var embed: EmbedSource?
    /// The address of a picture that is the background.
    var background: String?
    /// In `picture`, the address of the last source.
    var sourceSet: String?
    /// Whether a script has made the content from the source of a formula that may follow.
    var isRendering = false
    /// The words that stand for the content if it is empty.
    var label: String?
    /// Whether the content is empty on purpose, as a tracking pixel or the copy of a picture is.
    var isQuiet = false
    /// The address of a link to another page.
    var link: String?
    /// Whether the address of that page is worth noting if the link has no content.
    var isNoted = true
    /// A number or address in place of a link that the fragment cannot have.
    var unlinked: String?
    /// Whether the element is a row or cell that the source does not have.
    var isImplied = false
    /// The state before the element.
    var outside: Outside

    /// The tag that is in the fragment and open; nil if there is none.
    var tag: String? { if case .written(let tag, _, _) = treatment { tag } else { nil } }
  }

  struct Outside {
    /// The length of the fragment in bytes.
    var count: Int
    var isAtBlock: Bool
    var gap: Gap
    var place: PlainTextWriter.Place
  }

  /// The separator between a word and the next one. HTML shows blocks that have no tags on lines of their own.
  enum Gap: Int, Comparable {
    case none, blank, line, block

    static func < (a: Gap, b: Gap) -> Bool { a.rawValue < b.rawValue }
  }

  var images: [SafeHTML.Image] = []
  var recordings: [SafeHTML.Recording] = []
  var losses: [SafeHTML.Loss] = []
  var fileURLs: Set<String> = []
  var linkedURLs: Set<String> = []
  var anchors: Set<String> = []
  /// The pages of links that show something, and those of links that got a name.
  private var shownPages: Set<String> = []
  var namedPages: Set<String> = []
  /// The pages that need no name, because another link shows them.
  private(set) var knownPages: Set<String> = []
  var open: [OpenElement] = []
  var nesting = 0
  private var dropping = 0
  var math: MathText?
  /// Whether nothing but ends of elements follows a formula.
  var isAfterMath = false
  /// Whether nothing but ends of elements follows the words of a formula that a script made from its source.
  var isAfterRendering = false
  /// The number of pictures of the source so far.
  private var pictures = 0
  private var repeatedPictures: Set<Int> = []
  /// Whether another picture shows the one that is read.
  var isRepeated = false
  var openLinks = 0
  private(set) var openTables = 0
  /// Links that wait for the end of the link around them.
  var postponed: [EmbedSource.Address] = []
  var output: [UInt8] = []
  /// The separator that is needed before the next word.
  var gap = Gap.none
  /// Whether the fragment ends with the tag of a block.
  var isAtBlock = true
  var plain = PlainTextWriter()
  var links: LinkContext
  /// Whether the source is a whole document, whose title is not a part of its text.
  private var isDocument = false
  /// Whether the current ruby has parentheses of its own for readers without ruby.
  private var hasParentheses = false

  init(_ links: LinkContext) {
    self.links = links
  }

  var text: String { plain.text }

  var html: String {
    let isBlank = { (byte: UInt8) in byte <= 0x20 }
    let trimmed = output.drop(while: isBlank)
    let end = trimmed.lastIndex { !isBlank($0) }
    return end.map { String(decoding: trimmed[...$0], as: UTF8.self) } ?? ""
  }

  /// Reads a whole source, and once more if a link without content leads to the page of another link.
  static func reading(_ source: String, _ links: LinkContext) -> FragmentBuilder {
    let builder = FragmentBuilder(links)
    builder.read(source)
    guard !builder.namedPages.isDisjoint(with: builder.shownPages) else { return builder }
    let second = FragmentBuilder(links)
    second.knownPages = builder.shownPages
    second.read(source)
    return second
  }

  func read(_ source: String) {
    let bytes = MarkupRepair.repaired(Array(source.utf8.prefix(SafeHTML.maximumSourceBytes))).markup
    isDocument = Self.isDocument(bytes)
    (links, repeatedPictures) = SourceScan.scan(bytes, links)
    if HTMLScanner.scan(bytes, into: self) { lose(.text, .tooDeep) }
    while !open.isEmpty { close() }
    flushLinks()
  }

  private static func isDocument(_ source: [UInt8]) -> Bool {
    let start = String(decoding: source.prefix(1024), as: UTF8.self).lowercased()
    return start.contains("<html") || start.contains("<head>") || start.contains("<head ")
  }

  // MARK: Elements

  func start(_ name: String, _ attributes: [MarkupAttribute]) {
    isRepeated = SourceScan.isPicture(name) && repeatedPictures.contains(pictures)
    if SourceScan.isPicture(name) { pictures += 1 }
    if ElementRules.isVoid(name) {
      if dropping == 0, math == nil { void(name, attributes) }
      return
    }
    let rule = ElementRules.rule(for: name)
    if name == "script", dropping == 0, math == nil, !isAfterRendering, let formula = MathText(script: attributes) {
      open.append(OpenElement(name: name, rule: nil, treatment: .math, outside: outside))
      math = formula
      return
    }
    let isHiddenCopy = isAfterMath && attributes.contains { $0.name == "aria-hidden" && $0.value == "true" }
    let isTitle = name == "title" && isDocument && !open.contains { $0.name == "svg" }
    if dropping > 0 || ElementRules.dropped.contains(name) || isTitle || isHiddenCopy {
      if dropping == 0, let embed = EmbedSource(name, attributes, base: links.base) { writeLinks(embed) }
      dropping += 1
      open.append(OpenElement(name: name, rule: rule, treatment: .dropped, outside: outside))
      return
    }
    // As in browsers, a block ends a formula whose end tag is missing.
    if math != nil, rule?.closesParagraph == true { closeMath() }
    if math != nil || name == "math" {
      open.append(OpenElement(name: name, rule: nil, treatment: math == nil ? .math : .inMath, outside: outside))
      math = math ?? MathText(attributes)
      math?.start(name, attributes)
    } else {
      startContent(name, Self.named(name, attributes), rule)
    }
  }

  /// Gives an anchor with an old name an id.
  private static func named(_ name: String, _ attributes: [MarkupAttribute]) -> [MarkupAttribute] {
    guard name == "a", !attributes.contains(where: { $0.name == "id" && LinkContext.isName($0.value) }),
      let anchor = attributes.first(where: { $0.name == "name" })
    else { return attributes }
    return attributes.filter { $0.name != "id" } + [("id", anchor.value)]
  }

  private func startContent(_ name: String, _ attributes: [MarkupAttribute], _ known: ElementRules.Rule?) {
    let rule = known.map { $0.tag == nil || $0.tag == "span" ? Self.styled($0, attributes) : placed($0) }
    var element = OpenElement(name: name, rule: rule, treatment: .unwrapped, outside: outside)
    var attributes = attributes
    if name == "a", !attributes.contains(where: { $0.name == "href" }),
      let link = attributes.first(where: { $0.name == "xlink:href" })
    {
      attributes.append(("href", link.value))
    }
    if let rule {
      plain.start(rule)
      separate(rule)
      if rule.closesParagraph { closeParagraph() }
    }
    var written = rule.flatMap { ElementRules.attributes(attributes, for: $0, links) }
    let id = newID(attributes)
    written = written.map { id == nil ? $0.filter { $0.name != "id" } : $0 }
    if name == "a" { element.unlinked = unlinked(attributes, written) }
    if let tag = rule?.tag, let written, nesting < Self.maximumNesting, tag != "span" || id != nil {
      openCell(for: tag)
      let start = output.count
      if rule?.layout == .inline { writeGap() }
      Markup.appendTag(tag, written, to: &output)
      nesting += 1
      if tag == "table" { openTables += 1 }
      if tag == "a" {
        openLinks += 1
        let link = written.first { $0.name == "href" }?.value
        let reference = attributes.first { $0.name == "href" }?.value ?? ""
        if links.target(of: reference) == nil, let link, !links.isOwnPage(link) { element.link = link }
        element.isNoted = isNoted(attributes)
        linkedURLs.formUnion(link.map { [$0] } ?? [])
      }
      element.treatment = .written(tag: tag, start: start, hasID: id != nil)
      noteTag(rule)
    } else if let id {
      writeAnchor(id)
    }
    element.isRendering = attributes.contains {
      $0.name == "class" && $0.value.utf8.prefix(256).contains(Array("MathJax".utf8))
    }
    element.content = output.count
    element.label = Self.label(of: name, attributes)
    writeContent(of: name, attributes, &element)
    open.append(element)
  }

  /// Reads what an element shows besides its content.
  private func writeContent(of name: String, _ attributes: [MarkupAttribute], _ element: inout OpenElement) {
    if SourceScan.isPicture(name) || !ElementRules.isKnown(name) && namesPicture(attributes) {
      if isRepeated { markQuiet() } else { picture(attributes) }
      return
    }
    element.background = PictureSource.background(of: attributes, base: links.base)
    element.embed = EmbedSource(name, attributes, base: links.base)
    switch name {
    case "video":
      let poster = attributes.first { $0.name == "poster" || $0.name == "data-poster" }
      if let poster { picture([("src", poster.value)]) }
    case "q":
      plain.append(Array(Self.quotes(within: open).0.utf8))
    case "ruby": hasParentheses = false
    case "rp": hasParentheses = true
    case "rt" where !hasParentheses: plain.append([UInt8(ascii: "(")])
    case "optgroup":
      write(attributes.first { $0.name == "label" }?.value)
    case "iframe" where element.embed == nil:
      // The document is in the attribute. Its words are kept.
      let document = attributes.first { $0.name == "srcdoc" }?.value ?? ""
      if !document.isEmpty, !isNested, !EmbedSource.isHidden(attributes) { write(Self.words(of: document)) }
    default: break
    }
  }

  static func words(of document: String) -> String {
    // The document cannot have another one, because an attribute inside of an attribute is escaped twice.
    let builder = FragmentBuilder(LinkContext(base: nil, address: nil))
    builder.isNested = true
    builder.read(document)
    return builder.text
  }

  /// Whether this is the document inside of an attribute.
  private var isNested = false

  private func namesPicture(_ attributes: [MarkupAttribute]) -> Bool {
    let source = PictureSource(attributes, base: links.base, isPicture: false).address
    return source.map { FileKind(of: $0) == .picture } == true
  }

  func end(_ name: String) {
    guard let index = open.lastIndex(where: { $0.name == name }) else { return }
    while open.count > index { close() }
  }

  func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard dropping == 0 else { return }
    let cleaned = Markup.withoutControls(bytes)
    if math != nil {
      math?.append(cleaned)
    } else {
      write(cleaned)
    }
  }

  func close() {
    guard var element = open.popLast() else { return }
    switch element.treatment {
    case .dropped:
      dropping -= 1
      return
    case .inMath:
      math?.end()
      return
    case .math:
      endMath()
      return
    case .unwrapped, .written: break
    }
    writeHidden(&element)
    if element.isRendering, element.content < output.count { isAfterRendering = true }
    if element.name == "rt", !hasParentheses { plain.append([UInt8(ascii: ")")]) }
    if element.name == "q" { plain.endQuote(element.outside.place, Self.quotes(within: open).1) }
    if element.name == "sup" { plain.raise(from: element.outside.place) }
    if case .written(let tag, let start, let hasID) = element.treatment {
      writeEnd(tag, element, start, keepsWhenEmpty: hasID)
    }
    if openLinks == 0 { flushLinks() }
    if let rule = element.rule {
      plain.end(rule)
      separate(rule)
    }
    if Self.hidden.contains(element.name), output.count == element.outside.count, plain.reset(to: element.outside.place)
    {
      (isAtBlock, gap) = (element.outside.isAtBlock, element.outside.gap)
    }
  }

  /// Writes what the element would have shown in place of its content.
  private func writeHidden(_ element: inout OpenElement) {
    let isEmpty = isEmpty(element)
    let alt = element.label.map { [("alt", $0)] } ?? []
    if isEmpty, let background = element.background {
      picture([("src", background)] + alt)
    }
    if element.name == "picture", isEmpty, let address = element.sourceSet { picture([("src", address)] + alt) }
    if let embed = element.embed, isEmpty || !embed.isOptional { writeLinks(embed) }
    if let link = element.link, !self.isEmpty(element) { shownPages.insert(LinkContext.page(link)) }
    if isEmpty, !element.isQuiet, self.isEmpty(element) { writeLabel(element) }
    if let address = element.unlinked, !shows(address, from: element.content) {
      write(Array((self.isEmpty(element) ? address : " (\(address))").utf8))
    }
  }

  private func isEmpty(_ element: OpenElement) -> Bool {
    element.content > output.count || output[element.content...].allSatisfy { $0 <= 0x20 }
  }

  /// Ends the open paragraph before a block, because HTML allows no block inside a paragraph.
  func closeParagraph() {
    guard let index = open.lastIndex(where: { $0.tag == "p" }) else { return }
    unwrap(from: index)
  }

  /// Ends the written elements from an index on. Their content goes on without tags.
  func unwrap(from index: Int) {
    for position in (index..<open.count).reversed() {
      if case .written(let tag, let start, let hasID) = open[position].treatment {
        writeEnd(tag, open[position], start, keepsWhenEmpty: hasID)
        open[position].treatment = .unwrapped
      }
    }
  }

  private func writeEnd(_ tag: String, _ element: OpenElement, _ start: Int, keepsWhenEmpty: Bool) {
    nesting -= 1
    if tag == "a" { openLinks -= 1 }
    if tag == "table" { openTables -= 1 }
    if output.count == element.content, element.rule?.keepsWhenEmpty != true, !keepsWhenEmpty {
      output.removeSubrange(start...)
      restoreGap(of: element)
    } else {
      output += "</\(tag)>".utf8
      if element.rule?.layout != .inline { isAtBlock = true }
    }
  }
}
