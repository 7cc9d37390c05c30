public import Foundation

/// The JSON encoding of the API: sorted keys, dates in the form of ``RFC3339``, unescaped slashes.
///
///     let list = try NewsJSON.decode(TopicList.self, from: Data(#"{"topics": []}"#.utf8))
///     print(String(decoding: try NewsJSON.encode(list), as: UTF8.self))  // {"topics":[]}
public enum NewsJSON {
  /// Encodes a value deterministically: equal values give equal bytes on every platform.
  ///
  /// - Throws: `EncodingError`.
  public static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(RFC3339.string(from: date))
    }
    return try encoder.encode(value)
  }

  /// Decodes a value. Unknown fields are ignored, and dates may have any RFC 3339 form.
  ///
  /// - Throws: `DecodingError`.
  public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      guard let date = RFC3339.date(from: try container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an RFC 3339 date")
      }
      return date
    }
    return try decoder.decode(type, from: data)
  }
}
