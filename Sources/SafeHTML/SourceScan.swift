/// A first reading of a source, which finds what a later part says about an earlier one.
final class SourceScan: HTMLBuilder {
  private struct Picture {
    var index: Int
    var source: PictureSource
    var isInCopy: Bool
  }

  /// The pictures, counted from 0, that another picture shows: placeholders, and repetitions in `noscript`.
  private(set) var repeated: Set<Int> = []
  private let links: LinkContext
  private var defined: [String: String] = [:]
  private var referenced: Set<String> = []
  private var pictures = 0
  private var copyDepth = 0
  /// The last picture, if no text follows it.
  private var previous: Picture?

  private init(_ links: LinkContext) {
    self.links = links
  }

  /// Reads the source, if it can have targets or copies.
  static func scan(_ source: [UInt8], _ links: LinkContext) -> (links: LinkContext, repeated: Set<Int>) {
    guard hasTargets(source) || contains("<noscript", in: source) else { return (links, []) }
    let scan = SourceScan(links)
    HTMLScanner.scan(source, into: scan)
    var links = links
    for (key, id) in scan.defined where scan.referenced.contains(key) { links.anchors[key] = id }
    return (links, scan.repeated)
  }

  private static func hasTargets(_ source: [UInt8]) -> Bool {
    contains("#", in: source) && (contains("id=", in: source) || contains("name=", in: source))
  }

  /// Whether the source contains a text in lower case, in either case.
  private static func contains(_ text: StaticString, in source: [UInt8]) -> Bool {
    let wanted = text.withUTF8Buffer { Array($0) }
    return source.indices.contains { index in
      source[index] | 0x20 == wanted[0] | 0x20 && index + wanted.count <= source.count
        && wanted.indices.allSatisfy { source[index + $0] == wanted[$0] || source[index + $0] | 0x20 == wanted[$0] }
    }
  }

  func start(_ name: String, _ attributes: [MarkupAttribute]) {
    let id = attributes.first { $0.name == "id" && LinkContext.isName($0.value) }?.value
    let anchor = name == "a" ? attributes.first { $0.name == "name" && LinkContext.isName($0.value) }?.value : nil
    for written in [id, anchor].compactMap({ $0 }) {
      let key = LinkContext.key(written)
      if defined[key] == nil { defined[key] = LinkContext.prefix + LinkContext.key(id ?? written) }
    }
    if name == "a" || name == "area", let target = attributes.first(where: { $0.name == "href" })?.value {
      for name in links.target(of: target).map(LinkContext.spellings) ?? [] { referenced.insert(LinkContext.key(name)) }
    }
    if name == "noscript" { copyDepth += 1 }
    if Self.isPicture(name) { picture(attributes) }
  }

  /// Whether an element is a picture, as `img` and `amp-img` are.
  static func isPicture(_ name: String) -> Bool {
    name == "img" || name == "image" || ["-img", "-image", "-anim"].contains { name.hasSuffix($0) }
  }

  func end(_ name: String) {
    if name == "noscript" { copyDepth = max(0, copyDepth - 1) }
  }

  func characters(_ bytes: UnsafeBufferPointer<UInt8>) {
    if bytes.contains(where: { $0 > 0x20 }) { previous = nil }
  }

  private func picture(_ attributes: [MarkupAttribute]) {
    let picture = Picture(
      index: pictures, source: PictureSource(attributes, base: links.base), isInCopy: copyDepth > 0)
    pictures += 1
    let before = previous
    previous = picture
    guard let before, before.isInCopy != picture.isInCopy else { return }
    let (page, copy) = before.isInCopy ? (picture, before) : (before, picture)
    guard let address = copy.source.address else { return }
    if page.source.address == nil || page.source.isPlaceholder {
      repeated.insert(page.index)
    } else if page.source.isLazy || page.source.address == address {
      repeated.insert(copy.index)
    } else {
      return
    }
    // A picture has one copy.
    previous = nil
  }
}
