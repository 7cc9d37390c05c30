import Foundation

/// The field `Link` (RFC 8288 section 3).
///
///     let links = LinkField.links(["</items?topics=a,b&cursor=x>; rel=\"next\""])
///     print(links.first { $0.relations.contains("next") }?.target ?? "")  // /items?topics=a,b&cursor=x
public enum LinkField {
  /// A link of a field.
  public struct Link: Hashable, Sendable {
    /// The URI reference, relative to the address of the response.
    public var target: String
    /// The relation types in lower case.
    public var relations: [String]
  }

  /// The maximum size of all lines that is read, in bytes.
  private static let maximumBytes = 16_384

  /// Parses the lines of a field. Commas in targets and in quoted parameters separate nothing.
  ///
  /// - Parameter lines: The values of the field lines.
  /// - Returns: The links that have relations with the address of the response. A line ends at a syntax error.
  public static func links(_ lines: [String]) -> [Link] {
    var links: [Link] = []
    var budget = maximumBytes
    for line in lines where line.utf8.count <= budget {
      budget -= line.utf8.count
      var rest = Array(line.utf8)[...]
      while let link = next(&rest) { if !link.relations.isEmpty { links.append(link) } }
    }
    return links
  }

  /// Reads the next link of a field. A link with another context (`anchor`) has no relations here.
  ///
  /// - Returns: nil at the end, and at a syntax error.
  private static func next(_ rest: inout ArraySlice<UInt8>) -> Link? {
    guard let start = rest.firstIndex(of: UInt8(ascii: "<")),
      let end = rest[start...].firstIndex(of: UInt8(ascii: ">"))
    else { return nil }
    let target = String(decoding: rest[(start + 1)..<end], as: UTF8.self).trimmingCharacters(in: .whitespaces)
    rest = rest[(end + 1)...]
    var link = Link(target: target, relations: [])
    var hasAnchor = false
    var hasRelation = false
    while let (name, value) = parameter(&rest) {
      if name == "anchor" { hasAnchor = true }
      // Later ones are ignored (section 3.3).
      guard name == "rel", !hasRelation else { continue }
      hasRelation = true
      link.relations = value.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
    }
    if hasAnchor { link.relations = [] }
    return link
  }

  /// Reads a parameter of a link: `; name`, `; name=token` or `; name="text"`.
  ///
  /// - Returns: nil at the end of the link.
  private static func parameter(_ rest: inout ArraySlice<UInt8>) -> (name: String, value: String)? {
    rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == 9 }
    guard rest.first == UInt8(ascii: ";") else { return nil }
    rest = rest.dropFirst()
    let ends = ArraySlice(",;".utf8)
    let name = rest.prefix { $0 != UInt8(ascii: "=") && !ends.contains($0) }
    rest = rest.dropFirst(name.count)
    let text = String(decoding: name, as: UTF8.self).trimmingCharacters(in: .whitespaces).lowercased()
    guard rest.first == UInt8(ascii: "=") else { return (text, "") }
    rest = rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == 9 }
    guard rest.first == UInt8(ascii: "\"") else {
      let value = rest.prefix { !ends.contains($0) }
      rest = rest.dropFirst(value.count)
      return (text, String(decoding: value, as: UTF8.self).trimmingCharacters(in: .whitespaces))
    }
    rest = rest.dropFirst()
    var value: [UInt8] = []
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      if byte != UInt8(ascii: "\\") {
        value.append(byte)
      } else if let escaped = rest.popFirst() {
        value.append(escaped)
      }
    }
    return (text, String(decoding: value, as: UTF8.self))
  }
}
