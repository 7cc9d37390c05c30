import HTTPEdge

/// The fields of a form: a body of type `application/x-www-form-urlencoded`, a query, or the parts that are not files.
///
///     let fields = try FormFields(urlEncoded: "title=Fog+lifts&topic=harbour&topic=weather".utf8)
///     print(fields.first("title") ?? "")  // Fog lifts
///     print(fields.all("topic"))  // ["harbour", "weather"]
package struct FormFields: Sendable, Hashable {
  /// The values of each name, in their order.
  private var values: [String: [String]] = [:]

  /// Creates a form without fields.
  init() {}

  /// Parses the fields (URL standard, section 5.1).
  ///
  /// The standard replaces invalid bytes and keeps a stray `%`. Both are errors here, because browsers never send them.
  ///
  /// - Throws: `FormError`: `tooManyFields`, `nameTooLong`, `valueTooLong`, `malformedEscape`, `notUTF8` or
  ///   `tooManyMarks`.
  package init(urlEncoded bytes: some Collection<UInt8>, limits: FormLimits = FormLimits()) throws(FormError) {
    var rest = Array(bytes)[...]
    var count = 0
    while !rest.isEmpty {
      let pair = rest.prefix { $0 != UInt8(ascii: "&") }
      rest = rest.dropFirst(pair.count + 1)
      guard !pair.isEmpty else { continue }
      count += 1
      guard count <= limits.fields else { throw .tooManyFields }
      let encodedName = pair.prefix { $0 != UInt8(ascii: "=") }
      let encodedValue = pair.dropFirst(encodedName.count + 1)
      let name = try Self.decoded(encodedName, maximumBytes: limits.nameBytes, .nameTooLong)
      let value = try Self.decoded(encodedValue, maximumBytes: limits.valueBytes, .valueTooLong)
      values[name, default: []].append(value)
    }
  }

  /// Adds the value of a field.
  mutating func add(_ name: String, _ value: String) { values[name, default: []].append(value) }

  /// Returns the first value of a name.
  package func first(_ name: String) -> String? { values[name]?.first }

  /// Returns the values of a name in their order, such as those of check boxes.
  package func all(_ name: String) -> [String] { values[name] ?? [] }

  /// Returns whether a field has this name, even without a value.
  package func contains(_ name: String) -> Bool { values[name] != nil }

  /// Returns the first value of a name with line feeds as line ends, such as that of a text area.
  package func text(_ name: String) -> String? { first(name)?.withLineFeeds }

  /// Decodes a name or a value.
  private static func decoded(
    _ bytes: ArraySlice<UInt8>, maximumBytes: Int, _ tooLong: FormError
  ) throws(FormError) -> String {
    var decoded: [UInt8] = []
    var index = bytes.startIndex
    while index < bytes.endIndex {
      guard decoded.count < maximumBytes else { throw tooLong }
      switch bytes[index] {
      case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard bytes.endIndex - index > 2, let high = bytes[index + 1].hexadecimalValue,
          let low = bytes[index + 2].hexadecimalValue
        else { throw .malformedEscape }
        decoded.append(high << 4 | low)
        index += 2
      case let byte: decoded.append(byte)
      }
      index += 1
    }
    return try FormError.text(decoded)
  }
}
