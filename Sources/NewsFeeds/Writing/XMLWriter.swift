/// Writes XML 1.0 in UTF-8.
///
/// Characters that XML 1.0 does not allow (section 2.2) are left out. For example,
/// `xml.element("title", "Fish & Chips")` writes `<title>Fish &amp; Chips</title>`.
struct XMLWriter {
  typealias Attributes = KeyValuePairs<StaticString, String?>

  /// The document so far.
  private(set) var bytes: [UInt8] = []

  /// Writes the declaration of a document.
  mutating func declaration() { append("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n") }

  /// Writes an element with child elements.
  ///
  /// - Parameter attributes: The attributes; those without a value are left out.
  mutating func element(
    _ name: StaticString, _ attributes: Attributes = [:], _ content: (inout XMLWriter) -> Void
  ) {
    start(name, attributes, end: ">\n")
    content(&self)
    end(name)
  }

  /// Writes an element with a text, unless the text is nil.
  mutating func element(_ name: StaticString, _ text: String?) { element(name, [:], text) }

  /// Writes an element with a text, unless the text is nil.
  mutating func element(_ name: StaticString, _ attributes: Attributes, _ text: String?) {
    guard let text else { return }
    start(name, attributes, end: ">")
    append(escaping: text, inAttribute: false)
    end(name)
  }

  /// Writes an element without content.
  mutating func emptyElement(_ name: StaticString, _ attributes: Attributes = [:]) {
    start(name, attributes, end: "/>\n")
  }

  /// Writes elements that are XML already.
  mutating func write(xml: [UInt8]) { bytes += xml }

  private mutating func start(_ name: StaticString, _ attributes: Attributes, end: StaticString) {
    append("<")
    append(name)
    for case (let name, let value?) in attributes {
      append(" ")
      append(name)
      append("=\"")
      append(escaping: value, inAttribute: true)
      append("\"")
    }
    append(end)
  }

  private mutating func end(_ name: StaticString) {
    append("</")
    append(name)
    append(">\n")
  }

  private mutating func append(_ text: StaticString) {
    bytes += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  private mutating func append(escaping text: String, inAttribute: Bool) {
    var text = text
    text.withUTF8 { utf8 in
      bytes.reserveCapacity(bytes.count + utf8.count + utf8.count / 16)
      for (index, byte) in utf8.enumerated() {
        switch byte {
        case UInt8(ascii: "&"): append("&amp;")
        case UInt8(ascii: "<"): append("&lt;")
        case UInt8(ascii: ">"): append("&gt;")
        case UInt8(ascii: "\"") where inAttribute: append("&quot;")
        // A parser would change these (XML 1.0 sections 2.11 and 3.3.3).
        case 0x0D: append("&#13;")
        case 0x09, 0x0A: if inAttribute { append(byte == 0x09 ? "&#9;" : "&#10;") } else { bytes.append(byte) }
        case 0..<0x20: break
        case 0xBE...0xBF where index > 1 && utf8[index - 1] == 0xBF && utf8[index - 2] == 0xEF:
          // U+FFFE and U+FFFF.
          bytes.removeLast(2)
        default: bytes.append(byte)
        }
      }
    }
  }
}
