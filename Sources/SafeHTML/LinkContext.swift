internal import Foundation

/// An attribute of a tag.
typealias MarkupAttribute = (name: String, value: String)

/// The meaning of the links and names of a source.
///
/// The targets of links inside the source keep their names behind a prefix, so that they are not those of the page that
/// shows the fragment. GitHub and other sites write the same prefix.
struct LinkContext {
  static let prefix = "user-content-"
  /// The maximum length of a name in bytes.
  static let maximumNameBytes = 256

  /// The URL that relative links refer to.
  let base: URL?
  /// The addresses of the source, without fragment.
  private let addresses: [String]
  /// The ids of the targets, by the name in the source.
  var anchors: [String: String] = [:]

  init(base: URL?, address: String?) {
    self.base = base
    let own = address.flatMap { SafeLink.web($0, base: base?.absoluteString) }
    addresses = [own, base?.absoluteString].compactMap { $0.map(Self.page) }
  }

  /// Returns a link to the web, to a mail address or to a target in the fragment; nil for another one.
  func reference(_ value: String) -> String? {
    if let name = target(of: value).flatMap({ id(of: $0) }) {
      return "#" + SafeLink.encoded(name, afterScheme: nil)
    }
    return SafeLink.resolve(value, base: base, allowingMail: true)
  }

  /// Returns the id that an element gets for its name; nil if no link refers to it.
  func anchor(named name: String) -> String? { anchors[Self.key(name)] }

  /// Returns the name to which a link refers if its target may be in the source: `#name`, or the source's own address
  /// with `#name`.
  func target(of value: String) -> String? {
    guard let mark = value.utf8.firstIndex(of: UInt8(ascii: "#")), value.utf8.count <= SafeLink.maximumBytes * 2 else {
      return nil
    }
    let name = value[value.utf8.index(after: mark)...]
    guard 1...Self.maximumNameBytes * 3 ~= name.utf8.count else { return nil }
    let page = value[..<mark]
    if !page.utf8.allSatisfy({ $0 <= 0x20 }) {
      guard !addresses.isEmpty, let link = SafeLink.resolve(String(page), base: base, allowingMail: false),
        isOwnPage(link)
      else { return nil }
    }
    return String(name)
  }

  /// Whether a link leads to the source itself.
  func isOwnPage(_ link: String) -> Bool { addresses.contains(Self.page(link)) }

  private func id(of name: String) -> String? {
    Self.spellings(of: name).lazy.compactMap { anchors[Self.key($0)] }.first
  }

  /// The names that a fragment may mean (HTML Standard, section "Scrolling to a fragment"): as written, or decoded.
  static func spellings(of name: String) -> [String] {
    let name = String(name.prefix { $0 != " " })
    return [name] + [name.removingPercentEncoding].compactMap { $0 == name ? nil : $0 }
  }

  /// The name without the prefix that it may have already.
  static func key(_ name: String) -> String {
    guard name.utf8.starts(with: prefix.utf8) else { return name }
    return String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }

  /// Whether a text can be the name of a target.
  static func isName(_ text: String) -> Bool {
    1...maximumNameBytes ~= text.utf8.count
      && text.unicodeScalars.allSatisfy { $0.value > 0x20 && !(0x7F...0xA0 ~= $0.value) && $0.value < 0xFFFE }
  }

  /// The address without scheme, fragment and final slash, so that different spellings are equal.
  static func page(_ address: String) -> String {
    let page = address.utf8.prefix { $0 != UInt8(ascii: "#") }
    let text = String(decoding: page, as: UTF8.self)
    let rest = text.range(of: "://").map { String(text[$0.upperBound...]) } ?? text
    return rest.hasSuffix("/") ? String(rest.dropLast()) : rest
  }
}
