import Foundation
import HTTPEdge
import News
import OutgoingHTTP

/// Reads the fields of a JSON object one by one. It collects errors, so that one response reports them together. null
/// is not accepted; omit the field instead.
struct FieldReader {
  private let fields: [String: JSONValue]
  /// The prefix of field names in errors, such as `attachments[0].`.
  private let prefix: String
  private var unread: Set<String>
  private(set) var errors = FieldErrors()

  init(_ fields: [String: JSONValue], prefix: String = "") {
    self.fields = fields
    self.prefix = prefix
    unread = Set(fields.keys)
  }

  mutating func refuse(_ name: String, _ rule: FieldRule) {
    errors.append(prefix + name, rule)
  }

  mutating func add(_ errors: FieldErrors) {
    self.errors.append(errors)
  }

  /// Accepts fields that responses contain too and that have no effect in a write.
  mutating func ignore(_ names: String...) {
    unread.subtract(names)
  }

  /// Adds an error for each field that was not read.
  mutating func finish() {
    errors.append(unknown: unread, prefix: prefix, "is not a field of this resource")
  }

  /// Reads and converts a field. It adds an error with the rule if `convert` returns nil.
  ///
  /// - Returns: nil if the field is missing or invalid.
  mutating func value<Value>(_ name: String, rule: FieldRule, _ convert: (JSONValue) -> Value?) -> Value? {
    unread.remove(name)
    guard let field = fields[name] else { return nil }
    guard let value = convert(field) else {
      refuse(name, rule)
      return nil
    }
    return value
  }

  /// Reads a text that is neither blank nor too long. Its only control characters are tabs and line ends.
  mutating func text(_ name: String, maximumBytes: Int, isRequired: Bool = false) -> String? {
    let text = string(name)
    guard let text else {
      if isRequired, fields[name] == nil { refuse(name, .required) }
      return nil
    }
    if text.utf8.count > maximumBytes {
      refuse(name, .maximumBytes(maximumBytes))
    } else if text.allSatisfy(\.isWhitespace) {
      refuse(name, .notBlank)
    } else if text.hasControlCharacters {
      refuse(name, .noControlCharacters)
    } else {
      return text
    }
    return nil
  }

  /// Reads the required address of another server in its normal form; an empty text if it cannot be requested.
  mutating func requestableAddress(_ name: String) -> String {
    guard let text = string(name) else {
      if fields[name] == nil { refuse(name, .required) }
      return ""
    }
    do throws(OutgoingError) {
      return try OutgoingURL(text).text
    } catch {
      refuse(name, .requestableAddress(reason: "\(error)"))
      return ""
    }
  }

  /// Reads the required address of another server like `requestableAddress`, and the user and password in it.
  mutating func credentialAddress(_ name: String) -> (text: String, user: String?, password: String?) {
    guard case .string(let text)? = fields[name], let address = OutgoingURL.separated(text) else {
      return (requestableAddress(name), nil, nil)
    }
    unread.remove(name)
    do throws(OutgoingError) {
      return (try OutgoingURL(address.text).text, address.user, address.password)
    } catch {
      refuse(name, .requestableAddress(reason: "\(error)"))
      return ("", nil, nil)
    }
  }

  mutating func string(_ name: String) -> String? {
    value(name, rule: "must be a string") { if case .string(let text) = $0 { text } else { nil } }
  }

  /// Reads a value of a closed list.
  mutating func choice<Choice: RawRepresentable<String>>(_ name: String, rule: FieldRule) -> Choice? {
    value(name, rule: rule) { if case .string(let text) = $0 { Choice(text: text) } else { nil } }
  }

  mutating func bool(_ name: String) -> Bool? {
    value(name, rule: "must be true or false") { if case .bool(let flag) = $0 { flag } else { nil } }
  }

  mutating func integer(_ name: String, in range: ClosedRange<Int>) -> Int? {
    value(name, rule: .number(range)) {
      if case .integer(let number) = $0, range ~= number { number } else { nil }
    }
  }

  mutating func object(_ name: String) -> [String: JSONValue]? {
    value(name, rule: "must be an object") { if case .object(let fields) = $0 { fields } else { nil } }
  }

  mutating func array(_ name: String, maximum: Int) -> [JSONValue]? {
    value(name, rule: .maximumElements(maximum)) {
      if case .array(let elements) = $0, elements.count <= maximum { elements } else { nil }
    }
  }

  /// Reads an absolute http or https URL.
  mutating func url(_ name: String) -> String? {
    value(name, rule: .webAddress) {
      if case .string(let text) = $0 { WebLink.normalised(text) } else { nil }
    }
  }
}
