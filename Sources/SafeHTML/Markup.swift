/// Writes tags and escaped text.
package enum Markup {
  static func appendTag(
    _ tag: String, _ attributes: [(name: String, value: String)], isVoid: Bool = false, to output: inout [UInt8]
  ) {
    output.append(UInt8(ascii: "<"))
    output += tag.utf8
    for (name, value) in attributes {
      output += " \(name)=\"".utf8
      appendEscaped(Array(value.utf8), to: &output)
      output.append(UInt8(ascii: "\""))
    }
    output += (isVoid ? "/>" : ">").utf8
  }

  /// Escapes the characters that have a meaning in content or in a quoted attribute.
  static func escaped(_ text: String) -> String {
    var output: [UInt8] = []
    appendEscaped(Array(text.utf8), to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Appends UTF-8, escaped as by `escaped`.
  package static func appendEscaped(_ bytes: [UInt8], to output: inout [UInt8]) {
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "&"): output += "&amp;".utf8
      case UInt8(ascii: "<"): output += "&lt;".utf8
      case UInt8(ascii: ">"): output += "&gt;".utf8
      case UInt8(ascii: "\""): output += "&quot;".utf8
      default: output.append(byte)
      }
    }
  }

  /// Removes DEL and the characters that XML 1.0 (section 2.2) forbids or a text column cannot hold. `&#128;` to
  /// `&#159;` become the characters of windows-1252, as in browsers (HTML Standard, numeric character reference end
  /// state).
  static func withoutControls(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    // Decoding repairs malformed UTF-8 first.
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch scalar.value {
      case 0x0D: output.append(UInt8(ascii: "\n"))
      case 0x09, 0x0A: output.append(UInt8(scalar.value))
      case 0..<0x20, 0x7F, 0xFEFF, 0xFFFE, 0xFFFF: break
      case 0x80...0x9F:
        if let character = windows1252[Int(scalar.value) - 0x80] { output += UTF8.encode(character) ?? .init() }
      default: output += UTF8.encode(scalar) ?? .init()
      }
    }
    return output
  }

  private static let windows1252: [Unicode.Scalar?] = [
    "€", nil, "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", nil, "Ž", nil,
    nil, "‘", "’", "“", "”", "•", "–", "—", "˜", "™", "š", "›", "œ", nil, "ž", "Ÿ",
  ]
}
