internal import Foundation
internal import News

/// The members of a JSON object that another system has written.
///
/// A value of another type is coerced if its meaning is clear, such as a number in place of a text. Otherwise the member
/// is missing, and its name is noted: one field is no reason to lose an item.
struct JSONFields<Key: CodingKey> {
  private let fields: KeyedDecodingContainer<Key>
  /// The names of the members whose values have the wrong type, each once.
  private(set) var lost: [String] = []

  /// - Throws: `DecodingError` if the value is not an object.
  init(_ decoder: any Decoder) throws {
    fields = try decoder.container(keyedBy: Key.self)
  }

  /// Sentences about the members that are lost.
  var losses: [String] { lost.map { "the field \"\($0)\" has the wrong type and is omitted" } }

  func contains(_ key: Key) -> Bool {
    fields.contains(key) && (try? fields.decodeNil(forKey: key)) != true
  }

  mutating func text(_ key: Key) -> String? { value(key, of: JSONText.self)?.text }

  /// Reads dates. One of the wrong type stays a date that cannot be read, so that editors see the reason.
  mutating func dates(_ keys: Key...) -> [String] {
    keys.compactMap { key in text(key) ?? (contains(key) ? "{\u{2026}}" : nil) }
  }

  /// Reads a whole number, which may be written as a text.
  mutating func number(_ key: Key) -> Int? {
    guard let text = text(key) else { return nil }
    if let number = text.wholeNumber { return number }
    note(key.stringValue)
    return nil
  }

  /// Reads a truth value, which may be written as a number or a text.
  mutating func flag(_ key: Key) -> Bool? { value(key, of: JSONFlag.self)?.value }

  /// Reads a list, or a single value in place of one.
  mutating func list<Value: Decodable>(_ key: Key, of type: Value.Type = Value.self) -> [Value] {
    guard contains(key) else { return [] }
    if let values = try? fields.decode([DecodingResult<Value>].self, forKey: key) {
      let read = values.compactMap(\.value)
      if read.count < values.count { note(key.stringValue) }
      return read
    }
    if let value = try? fields.decode(Value.self, forKey: key) { return [value] }
    note(key.stringValue)
    return []
  }

  mutating func note(_ name: String) {
    if !lost.contains(name) { lost.append(name) }
  }

  private mutating func value<Value: Decodable>(_ key: Key, of type: Value.Type) -> Value? {
    do {
      return try fields.decodeIfPresent(type, forKey: key)
    } catch {
      note(key.stringValue)
      return nil
    }
  }
}

/// A text, or a number in place of one: "If an id is presented as a number or other type, a JSON Feed reader should coerce
/// it to a string."
struct JSONText: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self.text = text
    } else if let number = try? container.decode(Int.self) {
      text = String(number)
    } else {
      text = String(try container.decode(Double.self))
    }
  }
}

/// A truth value: `true`, `1` or `"true"`.
struct JSONFlag: Decodable {
  let value: Bool

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let flag = try? container.decode(Bool.self) {
      value = flag
    } else if let number = try? container.decode(Int.self) {
      value = number != 0
    } else {
      let text = try container.decode(String.self)
      guard let flag = Self.value(of: text) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "is no truth value")
      }
      value = flag
    }
  }

  /// Reads a truth value as text; nil for other texts.
  static func value(of text: String) -> Bool? {
    switch Exclusion.plain(text) {
    case "true", "yes", "y", "on", "1": true
    case "false", "no", "n", "off", "0": false
    default: nil
    }
  }
}

/// A name, or an object with a name.
struct JSONName: Decodable {
  var name: String?

  private enum CodingKeys: CodingKey {
    case name
  }

  init(from decoder: any Decoder) throws {
    if let text = try? decoder.singleValueContainer().decode(String.self) {
      name = text
    } else {
      name = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .name)
    }
  }
}

/// A value, or the reason why decoding failed, so that one malformed item leaves the others readable.
struct DecodingResult<Value: Decodable>: Decodable {
  struct Failure: Error {
    let message: String
  }

  let result: Result<Value, Failure>

  var value: Value? { try? result.get() }

  init(from decoder: any Decoder) throws {
    do {
      result = .success(try Value(from: decoder))
    } catch {
      result = .failure(Failure(message: JSONProblem.message(for: error, below: decoder.codingPath.count)))
    }
  }
}

extension String {
  /// The text as a whole number; nil for other texts.
  fileprivate var wholeNumber: Int? {
    guard utf8.count <= 32 else { return nil }
    return Int(trimmed) ?? Double(trimmed).flatMap { Int(exactly: $0.rounded()) }
  }
}
