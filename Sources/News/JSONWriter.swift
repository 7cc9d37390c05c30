package import Foundation

/// Writes JSON in the form of the API, byte for byte as ``NewsJSON/encode(_:)`` does, without an encoder.
///
/// Names are written in the order of the calls, so the caller sorts them. For example,
/// `json.object { $0.field("breaking", true) }` writes `{"breaking":true}`.
package struct JSONWriter: Sendable {
  /// The text so far, in UTF-8.
  package private(set) var bytes: [UInt8] = []

  /// - Parameter capacity: The expected length in bytes.
  package init(capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  /// Writes an object.
  ///
  /// - Parameter fields: Writes the fields, sorted by name.
  package mutating func object(_ fields: (inout JSONWriter) -> Void) {
    append("{")
    fields(&self)
    append("}")
  }

  /// Writes an array.
  ///
  /// - Parameter element: Writes an element.
  package mutating func array<Element>(
    _ elements: some Sequence<Element>, _ element: (inout JSONWriter, Element) -> Void
  ) {
    append("[")
    for value in elements {
      beginElement()
      element(&self, value)
    }
    append("]")
  }

  /// Writes a field whose value is written by a closure.
  package mutating func field(_ name: StaticString, _ value: (inout JSONWriter) -> Void) {
    beginElement()
    append("\"")
    append(name)
    append("\":")
    value(&self)
  }

  /// Writes a field, unless the value is nil.
  package mutating func field(_ name: StaticString, _ value: String?) {
    if let value { field(name) { $0.write(value) } }
  }

  /// Writes a field, unless the value is nil.
  package mutating func field(_ name: StaticString, _ value: Int?) {
    if let value { field(name) { $0.write(value) } }
  }

  /// Writes a field.
  package mutating func field(_ name: StaticString, _ value: Bool) {
    field(name) { $0.append(value ? "true" : "false") }
  }

  /// Writes a field with a date in the form of ``RFC3339``, unless it is nil.
  package mutating func field(_ name: StaticString, _ date: Date?) {
    if let date { field(name) { $0.write(RFC3339.string(from: date)) } }
  }

  /// Writes a field with an id in lower case.
  package mutating func field(_ name: StaticString, _ id: UUID) {
    field(name) { $0.write(id) }
  }

  /// Writes a field with an array of strings.
  package mutating func field(_ name: StaticString, _ texts: [String]) {
    field(name) { $0.array(texts) { $0.write($1) } }
  }

  /// Writes an object with a value for each key. Keys are sorted by their UTF-8.
  package mutating func dictionary<Value>(_ values: [String: Value], _ write: (inout JSONWriter, Value) -> Void) {
    object { $0.fields(values, write) }
  }

  /// Writes a field for each key. Keys are sorted by their UTF-8.
  package mutating func fields<Value>(_ values: [String: Value], _ write: (inout JSONWriter, Value) -> Void) {
    for (key, value) in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      beginElement()
      self.write(key)
      append(":")
      write(&self, value)
    }
  }

  /// Writes a string in quotes. Only quotation marks, backslashes and control characters are escaped (RFC 8259,
  /// section 7).
  package mutating func write(_ string: String) {
    append("\"")
    var string = string
    string.withUTF8 { appendEscaped($0) }
    append("\"")
  }

  /// Writes an id in quotes and lower case, as RFC 9562 section 4 requires.
  package mutating func write(_ id: UUID) {
    append("\"")
    withUnsafeBytes(of: id.uuid) { octets in
      for (index, octet) in octets.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 { append("-") }
        bytes.append(Self.hexDigit(octet >> 4))
        bytes.append(Self.hexDigit(octet & 15))
      }
    }
    append("\"")
  }

  /// Writes a number.
  package mutating func write(_ number: Int) {
    bytes.append(contentsOf: String(number).utf8)
  }

  /// Writes a value with an encoder, for responses whose speed does not matter.
  ///
  /// - Throws: `EncodingError`.
  package mutating func encode(_ value: some Encodable) throws {
    bytes += try NewsJSON.encode(value)
  }

  /// Writes JSON that was made before, such as an item within a list.
  package mutating func write(json: some Collection<UInt8>) {
    bytes.append(contentsOf: json)
  }

  /// Writes a comma, unless the element is the first one of its object or array.
  private mutating func beginElement() {
    guard let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") else { return }
    append(",")
  }

  private mutating func append(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
    // Runs of plain bytes are appended as a whole.
    var start = 0
    for index in text.indices where Self.needsEscape(text[index]) {
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
      appendEscape(of: text[index])
      start = index + 1
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func appendEscape(of byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    case 0x08: append("\\b")
    case 0x09: append("\\t")
    case 0x0A: append("\\n")
    case 0x0C: append("\\f")
    case 0x0D: append("\\r")
    default:
      append("\\u00")
      bytes.append(Self.hexDigit(byte >> 4))
      bytes.append(Self.hexDigit(byte & 15))
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}

/// Items, states and events, which are written often. Their fields are those of `Codable`, sorted by name. Everything else is
/// encoded.
extension JSONWriter {
  /// Writes an item.
  package mutating func write(_ item: NewsItem) { write(item, editorial: nil) }

  /// Writes an item as editors see it.
  package mutating func write(_ item: EditorialItem) { write(item.item, editorial: item) }

  /// Writes an item, with the fields for editors if there are any.
  private mutating func write(_ item: NewsItem, editorial: EditorialItem?) {
    object { json in
      json.field("attachments") { $0.write(item.attachments) }
      json.field("author", item.author)
      json.field("breaking", item.breaking)
      if editorial?.hasDate ?? true { json.field("date", item.date) }
      json.field("edited", editorial?.edited)
      json.field("erased", editorial?.erased)
      json.field("expireAt", editorial?.expireAt)
      json.field("html", item.html)
      json.field("id", item.id)
      json.field("language", item.language)
      json.field("publishAt", editorial?.publishAt)
      json.field("retractionReason", editorial?.retractionReason)
      json.field("revision", editorial?.revision)
      json.field("state", editorial?.state.rawValue)
      json.field("summary", item.summary)
      json.field("text", item.text)
      json.field("title", item.title)
      json.field("topics", item.topics)
      json.field("updated", item.updated)
      json.field("url", item.url)
      json.field("version", item.version)
    }
  }

  /// Writes the body of `GET /v1/editorial/items`.
  package mutating func write(_ list: EditorialItemList) {
    object { json in
      json.field("counts") { $0.dictionary(list.namedCounts) { $0.write($1) } }
      json.field("items") { $0.array(list.items) { $0.write($1) } }
    }
  }

  /// Writes the attachments of an item.
  package mutating func write(_ attachments: [Attachment]) {
    array(attachments) { $0.write($1) }
  }

  /// Writes an attachment.
  package mutating func write(_ attachment: Attachment) {
    object { json in
      json.field("alt", attachment.alt)
      json.field("bytes", attachment.bytes)
      json.field("caption", attachment.caption)
      json.field("credit", attachment.credit)
      json.field("height", attachment.height)
      json.field("sha256", attachment.sha256)
      json.field("type", attachment.type)
      json.field("url", attachment.url)
      json.field("width", attachment.width)
    }
  }

  /// Writes the body of `GET /v1/state`.
  package mutating func write(_ state: FeedState) {
    object { json in
      json.field("feed", state.feed.description)
      json.field("topics") { $0.dictionary(state.topics) { $0.write($1.description) } }
      json.field("union", state.union?.description)
    }
  }

  /// Writes the data of an event.
  package mutating func write(_ event: ChangeEvent) {
    object { json in
      json.field("ids") { $0.array(event.ids) { $0.write($1) } }
      json.field("token", event.token.description)
      json.field("topics", event.topics)
    }
  }
}
