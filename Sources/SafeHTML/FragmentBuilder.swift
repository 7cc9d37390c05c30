internal import Foundation

/// Builds the safe fragment, the text and the list of pictures from the events of a scan.
final class FragmentBuilder: HTMLBuilder {
  /// The maximum nesting depth of the fragment. Deeper elements lose their tags, not their text.
  private static let maximumNesting = 100

  /// The treatment of an open element of the source.
  private enum Treatment {
    /// The tag is in the fragment from `start` on, and the content from `content` on.
    case written(tag: String, start: Int, content: Int)
    /// Only the content is in the fragment, or the end tag is already written.
    case unwrapped
    /// The element is dropped with everything inside.
    case dropped
  }

  private struct OpenElement {
    let name: String
    let rule: ElementRules.Rule?
    var treatment: Treatment
  }

  private(set) var images: [SafeHTML.Image] = []
  private var imageURLs: Set<String> = []
  private var open: [OpenElement] = []
  private var nesting = 0
  private var dropping = 0
  private var output: [UInt8] = []
  private var plain = PlainTextWriter()
  private let base: URL?

  init(base: URL?) {
    self.base = base
  }

  var text: String { plain.text }

  var html: String {
    let isBlank = { (byte: UInt8) in byte <= 0x20 }
    let trimmed = output.drop(while: isBlank)
    let end = trimmed.lastIndex { !isBlank($0) }
    return end.map { String(decoding: trimmed[...$0], as: UTF8.self) } ?? ""
  }

  /// Reads a whole source.
  func read(_ source: String) {
    HTMLScanner.scan(source, into: self)
    while !open.isEmpty { close() }
  }

  func start(_ name: String, _ attributes: [(name: String, value: String)]) {
    if ElementRules.isVoid(name) {
      if dropping == 0 { void(name, attributes) }
      return
    }
    let rule = ElementRules.rule(for: name)
    var element = OpenElement(name: name, rule: rule, treatment: .unwrapped)
    if dropping > 0 || ElementRules.dropped.contains(name) {
      dropping += 1
      element.treatment = .dropped
    } else if let rule {
      plain.start(rule)
      if rule.closesParagraph { closeParagraph() }
      let written = ElementRules.attributes(attributes, for: rule, base: base)
      if let tag = rule.tag, let written, nesting < Self.maximumNesting {
        let start = output.count
        Markup.appendTag(tag, written, to: &output)
        nesting += 1
        element.treatment = .written(tag: tag, start: start, content: output.count)
      }
    }
    open.append(element)
  }

  func end(_ name: String) {
    guard let index = open.lastIndex(where: { $0.name == name }) else { return }
    while open.count > index { close() }
  }

  func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard dropping == 0 else { return }
    let cleaned = Markup.withoutControls(bytes)
    Markup.appendEscaped(cleaned, to: &output)
    plain.append(cleaned)
  }

  private func close() {
    guard let element = open.popLast() else { return }
    switch element.treatment {
    case .dropped: dropping -= 1
    case .unwrapped: break
    case .written(let tag, let start, let content): writeEnd(tag, element.rule, start, content)
    }
    if dropping == 0, let rule = element.rule, !ElementRules.dropped.contains(element.name) { plain.end(rule) }
  }

  /// Ends the open paragraph before a block, because HTML allows no block inside a paragraph.
  private func closeParagraph() {
    guard let index = open.lastIndex(where: { if case .written("p", _, _) = $0.treatment { true } else { false } })
    else {
      return
    }
    for position in (index..<open.count).reversed() {
      if case .written(let tag, let start, let content) = open[position].treatment {
        writeEnd(tag, open[position].rule, start, content)
        open[position].treatment = .unwrapped
      }
    }
  }

  private func writeEnd(_ tag: String, _ rule: ElementRules.Rule?, _ start: Int, _ content: Int) {
    nesting -= 1
    if output.count == content, rule?.keepsWhenEmpty != true {
      output.removeSubrange(start...)
    } else {
      output += "</\(tag)>".utf8
    }
  }

  private func void(_ name: String, _ attributes: [(name: String, value: String)]) {
    guard let rule = ElementRules.rule(for: name), let tag = rule.tag else { return }
    if rule.closesParagraph { closeParagraph() }
    if name == "br" { plain.lineBreak() } else { plain.start(rule) }
    guard let written = ElementRules.attributes(attributes, for: rule, base: base) else { return }
    if name == "img" {
      guard let image = SafeHTML.Image(written) else { return }
      if imageURLs.insert(image.url).inserted { images.append(image) }
    }
    Markup.appendTag(tag, written, isVoid: true, to: &output)
  }
}

extension SafeHTML.Image {
  /// Creates an image; nil for a tracking pixel.
  fileprivate init?(_ attributes: [(name: String, value: String)]) {
    func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
    guard let url = value("src") else { return nil }
    self.url = url
    alt = value("alt").flatMap { $0.isEmpty ? nil : $0 }
    width = value("width").flatMap { Int($0) }
    height = value("height").flatMap { Int($0) }
    if let width, let height, width <= 1, height <= 1 { return nil }
  }
}
