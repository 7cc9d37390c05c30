import Foundation

/// The file name in a `Content-Disposition` field (RFC 6266).
package enum ContentDisposition {
  /// The maximum length of a file name in bytes of UTF-8, as in file systems.
  private static let maximumNameBytes = 255

  /// The field, or the file name in it, is not acceptable.
  package struct Malformed: Error {}

  /// Reads the file name from a field value. `filename*` (RFC 8187) takes precedence over `filename`. Only the last
  /// component of a path is used (RFC 6266 section 4.3).
  ///
  /// - Returns: nil if there is no name, or one of dots and white space only.
  /// - Throws: `Malformed` if the syntax is wrong, or if the name has control characters or more than 255 bytes.
  package static func name(in field: String) throws(Malformed) -> String? {
    let parameters = try parameters(of: field)
    guard let given = try parameters["filename*"].map(extended) ?? parameters["filename"] else { return nil }
    let name = given.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
    if name.allSatisfy({ $0 == "." || $0.isWhitespace }) { return nil }
    guard name.utf8.count <= maximumNameBytes,
      name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { throw Malformed() }
    return name
  }

  /// Returns the field value for a response that a browser may display in place.
  package static func inline(_ name: String?) -> String {
    guard let name else { return "inline" }
    let plain = String(
      name.unicodeScalars.map { 32...126 ~= $0.value && $0 != "\"" && $0 != "\\" && $0 != "%" ? Character($0) : "_" })
    return plain == name
      ? "inline; filename=\"\(name)\"" : "inline; filename=\"\(plain)\"; filename*=UTF-8''\(encoded(name))"
  }

  /// Parses the parameters of a field, by name in lower case.
  ///
  /// - Throws: `Malformed` if the syntax is wrong or a name is repeated.
  private static func parameters(of field: String) throws(Malformed) -> [String: String] {
    var rest = Substring(field)
    guard let type = token(&rest), !type.isEmpty else { throw Malformed() }
    var parameters: [String: String] = [:]
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" }
      if rest.isEmpty { return parameters }
      guard rest.first == ";" else { throw Malformed() }
      rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
      if rest.isEmpty { return parameters }
      guard let name = token(&rest), rest.first == "=" else { throw Malformed() }
      rest = rest.dropFirst()
      guard let value = rest.first == "\"" ? quoted(&rest) : token(&rest),
        parameters.updateValue(value, forKey: name.lowercased()) == nil
      else { throw Malformed() }
    }
  }

  /// Parses a token (RFC 9110 section 5.6.2).
  private static func token(_ rest: inout Substring) -> String? {
    let token = rest.prefix { $0 != ";" && $0 != "=" && $0 != "\"" && $0 != " " && $0 != "\t" && $0 != "," }
    rest = rest.dropFirst(token.count)
    return token.isEmpty ? nil : String(token)
  }

  /// Parses a quoted string (RFC 9110 section 5.6.4).
  private static func quoted(_ rest: inout Substring) -> String? {
    var text = ""
    rest = rest.dropFirst()
    while let character = rest.popFirst() {
      switch character {
      case "\"": return text
      case "\\": text.append(rest.popFirst() ?? "\\")
      default: text.append(character)
      }
    }
    return nil
  }

  /// Decodes an extended value, `UTF-8'language'percent-encoded` (RFC 8187 section 3.2).
  private static func extended(_ value: String) throws(Malformed) -> String {
    let parts = value.split(separator: "'", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].lowercased() == "utf-8", let text = String(parts[2]).removingPercentEncoding
    else { throw Malformed() }
    return text
  }

  private static func encoded(_ name: String) -> String {
    let attribute = CharacterSet(charactersIn: "!#$&+-.^_`|~")
      .union(CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))
    return name.addingPercentEncoding(withAllowedCharacters: attribute) ?? ""
  }
}
