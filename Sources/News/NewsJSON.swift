public import Foundation

/// The one way JSON is written and read here: sorted keys, dates as `RFC3339` writes them, slashes unescaped.
public enum NewsJSON {
  /// Encodes deterministically: equal values give equal bytes, on every platform.
  public static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(RFC3339.string(from: date))
    }
    return try encoder.encode(value)
  }

  /// Decodes, ignoring unknown fields; dates may have any RFC 3339 form.
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
