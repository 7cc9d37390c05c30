internal import Foundation

extension FragmentBuilder {
  /// The maximum number of different losses that are listed.
  private static let maximumLosses = 16

  // MARK: Words

  /// Writes words that are in an attribute of the source.
  func write(_ text: String?) {
    guard let text, !text.isEmpty else { return }
    widenGap(to: .blank)
    plain.separateWords()
    write(Markup.withoutControls(text.utf8))
    plain.separateWords()
    gap = .blank
  }

  /// Writes UTF-8 without control characters.
  func write(_ text: [UInt8]) {
    guard let first = text.first else { return }
    let isBlank = !text.contains { $0 > 0x20 }
    if !isBlank { openCell() }
    if first > 0x20 || !isBlank && gap > .blank { writeGap() }
    if isBlank {
      // The blank of the source is the one that is needed.
      if gap == .blank { gap = .none }
    } else {
      (isAtBlock, gap, isAfterMath, isAfterRendering) = (false, .none, false, false)
    }
    Markup.appendEscaped(text, to: &output)
    plain.append(text)
  }

  var outside: Outside { Outside(count: output.count, isAtBlock: isAtBlock, gap: gap, place: plain.place) }

  func writeGap() {
    switch gap {
    case .none: break
    case .blank: if let last = output.last, last > 0x20 { output.append(UInt8(ascii: " ")) }
    case .line: output += "<br/>".utf8
    case .block: output += "<br/><br/>".utf8
    }
    gap = .none
  }

  /// Separates what follows from the words before it.
  private func widenGap(to wanted: Gap) {
    if !isAtBlock { gap = max(gap, wanted) }
  }

  /// Keeps the boundary of an element that is omitted because it is empty.
  func restoreGap(of element: OpenElement) {
    (isAtBlock, gap) = (element.outside.isAtBlock, max(gap, element.outside.gap))
    switch element.rule?.layout {
    case .line: widenGap(to: .line)
    case .block: widenGap(to: .block)
    case .cell: widenGap(to: .blank)
    case .inline, nil: break
    }
  }

  /// Separates the content of an element without tag from what surrounds it.
  func separate(_ rule: ElementRules.Rule) {
    if rule.tag == nil, rule.layout != .inline { widenGap(to: .blank) }
  }

  /// Remembers that a tag was written.
  func noteTag(_ rule: ElementRules.Rule?) {
    if rule?.layout != .inline { (isAtBlock, gap) = (true, .none) }
  }

  /// The rule of an element without tag, unless its style shows it as a block.
  static func styled(_ rule: ElementRules.Rule, _ attributes: [MarkupAttribute]) -> ElementRules.Rule {
    guard let style = attributes.first(where: { $0.name == "style" })?.value, style.utf8.count <= 8192 else {
      return rule
    }
    let written = style.utf8.filter { $0 > 0x20 }.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
    let isBlock = ["block", "flex", "grid", "table", "list-item"].contains { display in
      written.contains(Array("display:\(display)".utf8))
    }
    return isBlock ? ElementRules.styledBlock : rule
  }

  // MARK: Anchors and losses

  /// Returns the id of an element that is the target of a link; nil for another one.
  func newID(_ attributes: [MarkupAttribute]) -> String? {
    guard !links.anchors.isEmpty, let name = attributes.first(where: { $0.name == "id" })?.value,
      let id = links.anchor(named: name), anchors.insert(id).inserted
    else { return nil }
    return id
  }

  /// Writes a target in place of an element without tag.
  func writeAnchor(_ id: String) {
    openCell()
    Markup.appendTag("span", [("id", id)], to: &output)
    output += "</span>".utf8
  }

  /// Returns the number or address of a link that the fragment cannot have, and reports other ones. Scripts are left out
  /// on purpose.
  func unlinked(_ attributes: [MarkupAttribute], _ written: [MarkupAttribute]?) -> String? {
    guard let reference = attributes.first(where: { $0.name == "href" })?.value,
      written?.contains(where: { $0.name == "href" }) != true
    else { return nil }
    switch SafeLink.other(reference) {
    case .words(let words): return ElementRules.line(words)
    case .loss(let reason): lose(.link, reason)
    case .nothing: break
    }
    return nil
  }

  /// Whether the content of an element has the end of an address or number.
  func shows(_ address: String, from start: Int) -> Bool {
    guard start <= output.count else { return false }
    let end = Array(Array(address.utf8.filter(\.isASCIIAlphanumeric)).suffix(6))
    return output[start...].prefix(1024).filter(\.isASCIIAlphanumeric).contains(end)
  }

  // MARK: Names

  /// The elements whose names are those of controls or parts of a page, not of what they show.
  private static let unlabelled: Set<String> = [
    "article", "aside", "body", "button", "dl", "footer", "form", "header", "html", "iframe", "main", "menu", "nav",
    "object", "ol", "p", "search", "section", "select", "table", "tbody", "tfoot", "thead", "tr", "ul", "video",
    "audio",
  ]

  /// Returns the words that an element without content has for people who do not see it.
  static func label(of name: String, _ attributes: [MarkupAttribute]) -> String? {
    guard !unlabelled.contains(name), !attributes.contains(where: { $0.name == "aria-hidden" && $0.value == "true" })
    else { return nil }
    for key in name == "option" ? ["label"] : ["aria-label", "title"] {
      guard let value = attributes.first(where: { $0.name == key })?.value, value.utf8.count <= 1024 else { continue }
      let line = ElementRules.line(value)
      if !line.isEmpty { return line }
    }
    return nil
  }

  /// Writes the words for an empty element. A link that has none shows its address, unless it leads to the
  /// page itself or another link shows where it leads.
  func writeLabel(_ element: OpenElement) {
    guard element.name == "a" else { return write(element.label) }
    guard let link = element.link, !knownPages.contains(LinkContext.page(link)), element.label != nil || element.isNoted
    else { return }
    namedPages.insert(LinkContext.page(link))
    if case .written(_, let start, _) = element.treatment, !element.outside.isAtBlock, start > 0,
      output[start - 1] > 0x20
    {
      output.insert(UInt8(ascii: " "), at: start)
    }
    plain.separateWords()
    write(Array((element.label ?? Self.name(of: link)).utf8))
    plain.separateWords()
    gap = .blank
  }

  /// Whether the address of a link is worth noting if it has no content. Its author says otherwise of buttons for sharing.
  func isNoted(_ attributes: [MarkupAttribute]) -> Bool {
    guard let value = attributes.first(where: { $0.name == "rel" })?.value, value.utf8.count <= 256 else { return true }
    return !["nofollow", "sponsored", "ugc"].contains(where: value.lowercased().contains)
  }

  /// Notes that the content of the open elements is empty on purpose.
  func markQuiet() {
    for index in open.indices.reversed() {
      // The elements around a quiet one are quiet, too.
      if open[index].isQuiet { return }
      open[index].isQuiet = true
    }
  }

  /// The quotation marks of an element inside of others.
  static func quotes(within open: [OpenElement]) -> (String, String) {
    open.count { $0.name == "q" } % 2 == 0 ? ("\u{201C}", "\u{201D}") : ("\u{2018}", "\u{2019}")
  }

  func lose(_ part: SafeHTML.Loss.Part, _ reason: SafeHTML.Loss.Reason) {
    let index = losses.firstIndex { loss in
      switch (loss.reason, reason) {
      case (.tooLong, .tooLong): loss.part == part
      default: loss.part == part && loss.reason == reason
      }
    }
    if let index {
      losses[index].count += 1
    } else if losses.count < Self.maximumLosses {
      losses.append(SafeHTML.Loss(part: part, reason: reason, count: 1))
    }
  }

  // MARK: Formulas

  /// Ends a formula, and writes its words.
  func endMath() {
    guard let formula = math else { return }
    math = nil
    let text = formula.text
    guard !text.isEmpty else { return }
    if formula.isBlock {
      write(text)
    } else {
      write(Array(text.utf8))
    }
    (isAfterMath, isAfterRendering) = (true, !formula.isScript)
  }

  func closeMath() {
    while math != nil, !open.isEmpty { close() }
  }

  // MARK: Elements without content

  func void(_ name: String, _ attributes: [MarkupAttribute]) {
    switch name {
    case "br", "hr": lineElement(name, attributes)
    case "img": if isRepeated { markQuiet() } else { picture(attributes) }
    case "input": input(attributes)
    case "area": area(attributes)
    case "source"
    where open.last(where: { $0.name == "picture" || $0.name == "video" || $0.name == "audio" })?.name
      == "picture":
      sourceOfPicture(attributes)
    case "bgsound", "embed", "frame", "param", "source", "track": embed(name, attributes)
    default:
      if let id = newID(attributes) { writeAnchor(id) }
    }
  }

  private func lineElement(_ name: String, _ attributes: [MarkupAttribute]) {
    guard let rule = ElementRules.rule(for: name), let tag = rule.tag else { return }
    if rule.closesParagraph { closeParagraph() }
    if name == "br" { plain.lineBreak() } else { plain.start(rule) }
    // Between the rows and cells of a table is no place for it.
    guard !isBetweenCells else { return }
    noteTag(rule)
    var written = ElementRules.attributes(attributes, for: rule, links) ?? []
    if newID(attributes) == nil { written.removeAll { $0.name == "id" } }
    Markup.appendTag(tag, written, isVoid: true, to: &output)
  }

  private func input(_ attributes: [MarkupAttribute]) {
    let type = attributes.first { $0.name == "type" }.map { String($0.value.prefix(16)).lowercased() } ?? "text"
    if type == "image" {
      picture(attributes)
    } else if ["button", "reset", "submit", "text"].contains(type) {
      write(attributes.first { $0.name == "value" && $0.value.utf8.count <= 1024 }.map { ElementRules.line($0.value) })
    } else if type == "checkbox" || type == "radio", isChoice(attributes) {
      let isChecked = attributes.contains { $0.name == "checked" }
      write(type == "radio" ? isChecked ? "\u{25C9}" : "\u{25CB}" : isChecked ? "\u{2611}" : "\u{2610}")
    }
  }

  /// Whether a box belongs to a list or a form. Others are switches of a page's layout.
  private func isChoice(_ attributes: [MarkupAttribute]) -> Bool {
    !attributes.contains { $0.name == "hidden" }
      && open.contains { ["dd", "dt", "label", "li", "p", "td", "th"].contains($0.name) }
  }

  private func area(_ attributes: [MarkupAttribute]) {
    guard let target = attributes.first(where: { $0.name == "href" })?.value, let url = links.reference(target) else {
      return
    }
    let label = attributes.first { $0.name == "alt" || $0.name == "title" }.map { ElementRules.line($0.value) }
    writeLink(EmbedSource.Address(url: url, label: label.flatMap { $0.isEmpty ? nil : $0 }))
  }

  private func sourceOfPicture(_ attributes: [MarkupAttribute]) {
    guard let index = open.lastIndex(where: { $0.name == "picture" }),
      let address = PictureSource(attributes, base: links.base).address
    else { return }
    open[index].sourceSet = address
  }

  /// Reads an element that belongs to the player or object around it, if there is one.
  private func embed(_ name: String, _ attributes: [MarkupAttribute]) {
    let outer = open.lastIndex { $0.embed?.isOptional == false }
    let player = outer.map { open[$0].name }
    let isSource = name == "source" && (player == "video" || player == "audio")
    guard let embed = EmbedSource(isSource ? player ?? name : name, attributes, base: links.base) else { return }
    guard let outer, var whole = open[outer].embed else {
      writeLinks(embed)
      return
    }
    whole.add(embed)
    open[outer].embed = whole
  }

  // MARK: Links to embeds

  func writeLinks(_ embed: EmbedSource) {
    if let recording = embed.recording, fileURLs.insert(recording.url).inserted { recordings.append(recording) }
    if embed.addresses.isEmpty, let loss = embed.loss { lose(.embed, loss) }
    for address in embed.addresses {
      if FileKind(of: address.url) == .picture {
        if !fileURLs.contains(address.url) {
          picture([("src", address.url)] + (address.label.map { [("alt", $0)] } ?? []))
        }
      } else if !linkedURLs.contains(address.url) {
        writeLink(address)
      }
    }
  }

  private func writeLink(_ address: EmbedSource.Address) {
    guard openLinks == 0 else {
      // A link cannot be inside of another one.
      postponed.append(address)
      return
    }
    linkedURLs.insert(address.url)
    openCell()
    widenGap(to: .blank)
    writeGap()
    plain.start(ElementRules.styledBlock)
    Markup.appendTag("a", [("href", address.url)], to: &output)
    write(Array((address.label ?? Self.name(of: address.url)).utf8))
    output += "</a>".utf8
    plain.end(ElementRules.styledBlock)
    gap = .blank
  }

  func flushLinks() {
    guard !postponed.isEmpty else { return }
    let addresses = postponed
    postponed = []
    for address in addresses where !linkedURLs.contains(address.url) { writeLink(address) }
  }

  /// The address as people write it, without scheme.
  private static func name(of url: String) -> String {
    if url.utf8.starts(with: "mailto:".utf8) {
      let address = String(decoding: url.utf8.dropFirst(7).prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
      return address.removingPercentEncoding ?? address
    }
    let name = url.range(of: "://").map { String(url[$0.upperBound...]) } ?? url
    return name.hasSuffix("/") ? String(name.dropLast()) : name
  }

  // MARK: Pictures

  func picture(_ attributes: [MarkupAttribute]) {
    var source = PictureSource(attributes, base: links.base)
    if source.address == nil || source.isPlaceholder, let index = open.lastIndex(where: { $0.name == "picture" }),
      let address = open[index].sourceSet
    {
      source.address = address
      source.isLazy = true
    }
    let texts = ["alt", "title", "aria-label"].lazy.compactMap { name in
      attributes.first { $0.name == name }.map { ElementRules.line($0.value) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    let alt = texts.first
    guard let address = source.address else {
      if let loss = source.loss, !EmbedSource.isHidden(attributes) {
        lose(.picture, loss)
      }
      write(alt)
      return
    }
    let isTiny = EmbedSource.isHidden(attributes)
    if isTiny, !source.isLazy {
      markQuiet()
      return
    }
    write(attributes, address, alt, hasSize: !isTiny)
  }

  private func write(_ attributes: [MarkupAttribute], _ address: String, _ alt: String?, hasSize: Bool) {
    guard let rule = ElementRules.rule(for: "img") else { return }
    let kept = attributes.filter { $0.name != "src" && (hasSize || $0.name != "width" && $0.name != "height") }
    guard var written = ElementRules.attributes([("src", address)] + kept, for: rule, links) else { return }
    if newID(attributes) == nil { written.removeAll { $0.name == "id" } }
    openCell()
    writeGap()
    Markup.appendTag("img", written, isVoid: true, to: &output)
    (isAtBlock, isAfterMath, isAfterRendering) = (false, false, false)
    if let alt {
      // A symbol such as an emoji is a part of the text around it.
      let isWord = alt.utf8.contains { $0.isASCIIAlphanumeric } || alt.utf8.count > 32
      if isWord { plain.separateWords() }
      plain.append(Array(alt.utf8))
      if isWord { plain.separateWords() }
    }
    func number(_ name: String) -> Int? { written.first { $0.name == name }.flatMap { Int($0.value) } }
    if fileURLs.insert(address).inserted {
      images.append(SafeHTML.Image(url: address, alt: alt, width: number("width"), height: number("height")))
    }
  }
}
