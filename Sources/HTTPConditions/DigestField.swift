public import Foundation
public import HTTPTypes

/// What `Repr-Digest` or `Content-Digest` says (RFC 9530): a dictionary (RFC 9651 section 3.2) from algorithms to
/// digests as byte sequences. Of the algorithms, which a recipient may ignore, SHA-256 is read.
public enum DigestField: Equatable, Sendable {
  /// There is none of SHA-256.
  case absent
  /// The 32 bytes of SHA-256.
  case sha256(Data)
  /// There is one of SHA-256 that is none.
  case malformed

  /// Reads a field, which may have several lines.
  ///
  /// - Parameters:
  ///   - fields: The header fields of the message.
  ///   - name: `Repr-Digest` or `Content-Digest`.
  public init(fields: HTTPFields, name: HTTPField.Name) { self.init(lines: fields[values: name]) }

  /// Reads a field.
  ///
  /// - Parameter lines: The values of its lines.
  public init(lines: [String]) {
    self = .absent
    // No byte sequence contains a comma, and a key that comes again replaces the one before (RFC 9651 section 4.2.2).
    for member in lines.flatMap({ $0.split(separator: ",") }) {
      let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts[0].trimmingCharacters(in: .whitespaces) == "sha-256" else { continue }
      self = parts.count == 2 ? Self.read(parts[1]) : .malformed
    }
  }

  /// - Parameter item: A byte sequence between colons (RFC 9651 section 3.3.5), with parameters that mean nothing here.
  private static func read(_ item: Substring) -> DigestField {
    let value = item.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
    guard value.count >= 2, value.hasPrefix(":"), value.hasSuffix(":"),
      let digest = Data(base64Encoded: String(value.dropFirst().dropLast())), digest.count == 32
    else { return .malformed }
    return .sha256(digest)
  }

  /// The value of a field with one digest.
  ///
  /// - Parameter sha256: 32 bytes.
  public static func value(sha256: Data) -> String { "sha-256=:\(sha256.base64EncodedString()):" }
}
