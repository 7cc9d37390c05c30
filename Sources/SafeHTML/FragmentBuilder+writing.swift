internal import Foundation

extension FragmentBuilder {
  /// The maximum number of different losses that are listed.
  private static let maximumLosses = 16

  // MARK: Words

  /// Writes words that are in an attribute of the source.
  func write(_ text: String?) {
    guard let text, !text.isEmpty else { return }
    needsBlank = needsBlank || !isAtBlock
    plain.separateWords()
    write(Markup.withoutControls(text.utf8))
    plain.separateWords()
    needsBlank = true
  }

  /// Writes UTF-8 without control characters.
  func write(_ text: [UInt8]) {
    guard let first = text.first else { return }
    if first > 0x20 { writeBlank() }
    if text.contains(where: { $0 > 0x20 }) {
      (isAtBlock, needsBlank, isAfterMath, isAfterRendering) = (false, false, false, false)
    }
    Markup.appendEscaped(text, to: &output)
    plain.append(text)
  }

  private func writeBlank() {
    if needsBlank, let last = output.last, last > 0x20 { output.append(UInt8(ascii: " ")) }
    needsBlank = false
  }

  /// Separates the content of an element without tag from what surrounds it.
  func separate(_ rule: ElementRules.Rule) {
    if rule.tag == nil, rule.layout != .inline, !isAtBlock { needsBlank = true }
  }

  /// Remembers that a tag was written.
  func noteTag(_ rule: ElementRules.Rule?) {
    if rule?.layout != .inline { (isAtBlock, needsBlank) = (true, false) }
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
    Markup.appendTag("span", [("id", id)], to: &output)
    output += "</span>".utf8
  }

  /// Reports a link that is too long. Links with other schemes than those of the web are left out on purpose.
  func checkLink(_ attributes: [MarkupAttribute], _ written: [MarkupAttribute]?) {
    guard let reference = attributes.first(where: { $0.name == "href" })?.value,
      reference.utf8.count > SafeLink.maximumBytes, written?.contains(where: { $0.name == "href" }) != true
    else { return }
    lose(.link, SafeHTML.Loss.Reason(reference))
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
    case "img": if !isRepeated { picture(attributes) }
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
    }
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
    needsBlank = needsBlank || !isAtBlock
    writeBlank()
    plain.start(ElementRules.styledBlock)
    Markup.appendTag("a", [("href", address.url)], to: &output)
    write(Array((address.label ?? Self.name(of: address.url)).utf8))
    output += "</a>".utf8
    plain.end(ElementRules.styledBlock)
    needsBlank = true
  }

  func flushLinks() {
    guard !postponed.isEmpty else { return }
    let addresses = postponed
    postponed = []
    for address in addresses where !linkedURLs.contains(address.url) { writeLink(address) }
  }

  /// The address as people write it, without scheme.
  private static func name(of url: String) -> String {
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
    if isTiny, !source.isLazy { return }
    write(attributes, address, alt, hasSize: !isTiny)
  }

  private func write(_ attributes: [MarkupAttribute], _ address: String, _ alt: String?, hasSize: Bool) {
    guard let rule = ElementRules.rule(for: "img") else { return }
    let kept = attributes.filter { $0.name != "src" && (hasSize || $0.name != "width" && $0.name != "height") }
    guard var written = ElementRules.attributes([("src", address)] + kept, for: rule, links) else { return }
    if newID(attributes) == nil { written.removeAll { $0.name == "id" } }
    writeBlank()
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
