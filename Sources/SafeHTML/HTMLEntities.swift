/// The character names introduced by HTML 5 (HTML Standard section 13.5), which libxml2 does not know.
package enum HTMLEntities {
  /// The length in bytes of the longest name, `CounterClockwiseContourIntegral`.
  private static let maximumNameBytes = 31

  /// Returns the characters of a name; nil for a name of HTML 4 or an unknown one.
  package static func characters(named name: String) -> String? { byName[name] }

  /// Replaces these names by numeric references, which every parser knows.
  static func replacingNames(in markup: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var rest = markup[...]
    while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
      let name = rest[(mark + 1)...].prefix(maximumNameBytes).prefix {
        $0.isASCIIAlphanumeric
      }
      output += rest[...mark]
      rest = rest[(mark + 1)...]
      // The parser would drop a reference without a number, which is text.
      if rest.first == UInt8(ascii: "#"), !isNumber(rest.dropFirst()) { output += "amp;".utf8 }
      guard rest.dropFirst(name.count).first == UInt8(ascii: ";") else {
        // The parser does not know the old names without semicolon. In an address, `=` may follow such a name.
        if rest.dropFirst(name.count).first != UInt8(ascii: "="), old.contains(String(decoding: name, as: UTF8.self)) {
          output += name + [UInt8(ascii: ";")]
          rest = rest.dropFirst(name.count)
        }
        continue
      }
      guard let characters = byName[String(decoding: name, as: UTF8.self)] else { continue }
      output.removeLast()
      output += characters.unicodeScalars.map { "&#\($0.value);" }.joined().utf8
      rest = rest.dropFirst(name.count + 1)
    }
    return output + rest
  }

  private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
    let isHexadecimal = text.first == UInt8(ascii: "x") || text.first == UInt8(ascii: "X")
    return text.dropFirst(isHexadecimal ? 1 : 0).first.map {
      isHexadecimal ? SafeLink.isHexadecimal($0) : $0.isASCIIDigit
    } == true
  }

  /// The names that need no semicolon (HTML Standard section 13.5).
  private static let old = Set(
    """
    AElig Aacute Acirc Agrave Aring Atilde Auml Ccedil ETH Eacute Ecirc Egrave Euml Iacute Icirc Igrave Iuml Ntilde \
    Oacute Ocirc Ograve Oslash Otilde Ouml THORN Uacute Ucirc Ugrave Uuml Yacute aacute acirc acute aelig agrave amp \
    aring atilde auml brvbar ccedil cedil cent copy curren deg divide eacute ecirc egrave eth euml frac12 frac14 frac34 \
    gt iacute icirc iexcl igrave iquest iuml laquo lt macr micro middot nbsp not ntilde oacute ocirc ograve ordf ordm \
    oslash otilde ouml para plusmn pound quot raquo reg sect shy sup1 sup2 sup3 szlig thorn times uacute ucirc ugrave \
    uml uuml yacute yen yuml
    """.split(separator: " ").map(String.init))

  private static let byName: [String: String] = {
    let pairs = table.split(separator: " ").map { row in
      let parts = row.split(separator: "=")
      let scalars = parts[1].split(separator: ",").compactMap { UInt32($0, radix: 16).flatMap(Unicode.Scalar.init) }
      return (String(parts[0]), String(String.UnicodeScalarView(scalars)))
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }()
}
