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
    let parameters: [String: [UInt8]]
    do {
      parameters = try ParameterisedField(field.utf8, backslash: .escapes, acceptsNonTokens: true).parameters
    } catch { throw Malformed() }
    let plain = try parameters["filename"].map(text)
    guard let given = try parameters["filename*"].map(extended) ?? plain else { return nil }
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

  private static func text(_ bytes: [UInt8]) throws(Malformed) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Malformed() }
    return text
  }

  /// Decodes an extended value, `UTF-8'language'percent-encoded` (RFC 8187 section 3.2).
  private static func extended(_ value: [UInt8]) throws(Malformed) -> String {
    let parts = try text(value).split(separator: "'", omittingEmptySubsequences: false)
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
