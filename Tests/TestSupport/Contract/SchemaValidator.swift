import Foundation
import HTTPEdge
import NewsAPI
import Synchronization

/// Validates JSON against the JSON Schema keywords that `openapi.yaml` uses. An unknown keyword is an error, so that
/// none is ignored.
struct SchemaValidator {
  private static let patterns = PatternCache()

  let document: JSONValue

  func validate(_ value: JSONValue, _ schema: JSONValue, at place: String) throws {
    let schema = try resolved(schema)
    for (keyword, rule) in schema.members {
      try check(value, keyword, rule, schema, at: place)
    }
  }

  /// Validates a field value as a string, or as an integer if the schema requires one.
  func validate(fieldValue: String, _ schema: JSONValue, at place: String) throws {
    let schema = try resolved(schema)
    let isInteger = schema["type"] == .string("integer")
    let value = isInteger ? Int(fieldValue).map(JSONValue.integer) : nil
    try validate(value ?? .string(fieldValue), schema, at: place)
  }

  /// Resolves references within the document.
  func resolved(_ node: JSONValue) throws -> JSONValue {
    guard case .string(let reference)? = node["$ref"] else { return node }
    guard reference.hasPrefix("#/") else { throw Contract.Violation(description: "a reference to \(reference)") }
    var target: JSONValue? = document
    for part in reference.dropFirst(2).split(separator: "/") { target = target?[String(part)] }
    guard let target else { throw Contract.Violation(description: "a dangling reference to \(reference)") }
    return try resolved(target)
  }

  private func check(
    _ value: JSONValue, _ keyword: String, _ rule: JSONValue, _ schema: JSONValue, at place: String
  ) throws {
    func require(_ holds: Bool) throws {
      if !holds { throw Contract.Violation(description: "\(place): \(keyword) does not hold for \(value)") }
    }
    switch keyword {
    case "description", "title", "example", "examples", "format", "default", "contentEncoding", "deprecated",
      "readOnly", "writeOnly", "contentMediaType":
      break
    case "type":
      try require(rule.elements.isEmpty ? value.has(type: rule) : rule.elements.contains { value.has(type: $0) })
    case "const": try require(value == rule)
    case "enum": try require(rule.elements.contains(value))
    case "allOf": for part in rule.elements { try validate(value, part, at: place) }
    case "anyOf": try require(rule.elements.contains { fits(value, $0) })
    case "oneOf": try require(rule.elements.count { fits(value, $0) } == 1)
    case "required": for name in rule.elements { try require(value[name.text] != nil) }
    case "properties":
      for (name, part) in rule.members {
        if let member = value[name] { try validate(member, part, at: "\(place).\(name)") }
      }
    case "additionalProperties":
      for (name, member) in value.members where schema["properties"]?[name] == nil {
        if rule == .bool(false) { throw Contract.Violation(description: "\(place): \(name) is not declared") }
        if rule != .bool(true) { try validate(member, rule, at: "\(place).\(name)") }
      }
    case "propertyNames":
      for name in value.members.keys { try validate(.string(name), rule, at: "\(place).\(name)") }
    case "items":
      for (index, element) in value.elements.enumerated() { try validate(element, rule, at: "\(place)[\(index)]") }
    case "minItems": try require(value.elements.count >= rule.int)
    case "maxItems": try require(value.elements.count <= rule.int)
    case "uniqueItems": try require(Set(value.elements.map { "\($0)" }).count == value.elements.count)
    case "minProperties": try require(value.members.count >= rule.int)
    case "maxProperties": try require(value.members.count <= rule.int)
    case "minLength": try require(value.text.unicodeScalars.count >= rule.int)
    case "maxLength": try require(value.text.unicodeScalars.count <= rule.int)
    case "minimum": try require(value.int >= rule.int)
    case "maximum": try require(value.int <= rule.int)
    case "pattern":
      if case .string(let text) = value { try require(try Self.patterns.match(text, rule.text)) }
    default: throw Contract.Violation(description: "\(place): the validator does not know the keyword \(keyword)")
    }
  }

  private func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
    (try? validate(value, schema, at: "")) != nil
  }
}

/// The patterns of a contract, each of which is compiled once.
private final class PatternCache: Sendable {
  private let patterns = Mutex<[String: Regex<AnyRegexOutput>]>([:])

  func match(_ text: String, _ pattern: String) throws -> Bool {
    try patterns.withLock { patterns in
      let compiled = try patterns[pattern] ?? Regex(pattern)
      patterns[pattern] = compiled
      return text.contains(compiled)
    }
  }
}

extension JSONValue {
  /// Converts the result of the YAML parser.
  ///
  /// - Parameter yaml: A value from the YAML parser.
  init(yaml: Any) throws {
    switch yaml {
    case let value as Bool: self = .bool(value)
    case let value as Int: self = .integer(value)
    case let value as Double: self = .number(value)
    case let value as String: self = .string(value)
    case let value as [Any]: self = .array(try value.map(JSONValue.init(yaml:)))
    case let value as [String: Any]: self = .object(try value.mapValues(JSONValue.init(yaml:)))
    case let value as Date: self = .string(value.formatted(.iso8601))
    case is NSNull: self = .null
    default: throw Contract.Violation(description: "openapi.yaml: a value of type \(type(of: yaml))")
    }
  }

  subscript(name: String) -> JSONValue? { members[name] }

  var members: [String: JSONValue] { if case .object(let members) = self { members } else { [:] } }

  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

  var text: String { if case .string(let text) = self { text } else { "" } }

  var int: Int { if case .integer(let number) = self { number } else { 0 } }

  fileprivate func has(type: JSONValue) -> Bool {
    switch (type.text, self) {
    case ("null", .null), ("boolean", .bool), ("integer", .integer), ("number", .integer), ("number", .number),
      ("string", .string), ("array", .array), ("object", .object):
      true
    default: false
    }
  }
}
