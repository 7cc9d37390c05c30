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
      guard rest.dropFirst(name.count).first == UInt8(ascii: ";"),
        let characters = byName[String(decoding: name, as: UTF8.self)]
      else { continue }
      output.removeLast()
      output += characters.unicodeScalars.map { "&#\($0.value);" }.joined().utf8
      rest = rest.dropFirst(name.count + 1)
    }
    return output + rest
  }

  private static let byName: [String: String] = {
    let pairs = table.split(separator: " ").map { row in
      let parts = row.split(separator: "=")
      let scalars = parts[1].split(separator: ",").compactMap { UInt32($0, radix: 16).flatMap(Unicode.Scalar.init) }
      return (String(parts[0]), String(String.UnicodeScalarView(scalars)))
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }()
}
