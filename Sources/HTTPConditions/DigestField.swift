public import Foundation
public import HTTPTypes

/// The value of `Repr-Digest` or `Content-Digest` (RFC 9530): a dictionary (RFC 9651 section 3.2) from algorithms to
/// digests as byte sequences.
///
/// Only SHA-256 is read; a recipient may ignore any algorithm.
///
///     let digest = Data(repeating: 0, count: 32)
///     let value = DigestField.value(sha256: digest)
///     print(DigestField(lines: [value]) == .sha256(digest))  // true
public enum DigestField: Equatable, Sendable {
  /// No SHA-256 digest.
  case absent
  /// A SHA-256 digest of 32 bytes.
  case sha256(Data)
  /// A malformed SHA-256 digest.
  case malformed

  /// Parses a field, which may have several lines.
  ///
  /// - Parameters:
  ///   - fields: The header fields of the message.
  ///   - name: `Repr-Digest` or `Content-Digest`.
  public init(fields: HTTPFields, name: HTTPField.Name) { self.init(lines: fields[values: name]) }

  /// Parses the lines of a field.
  ///
  /// - Parameter lines: The values of the field lines.
  public init(lines: [String]) {
    self = .absent
    // A byte sequence contains no comma. A repeated key replaces the one before (RFC 9651 section 4.2.2).
    for member in lines.flatMap({ $0.split(separator: ",") }) {
      let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts[0].trimmingCharacters(in: .whitespaces) == "sha-256" else { continue }
      self = parts.count == 2 ? Self.read(parts[1]) : .malformed
    }
  }

  /// Parses a digest.
  ///
  /// - Parameter item: A byte sequence between colons (RFC 9651 section 3.3.5); parameters after it are ignored.
  private static func read(_ item: Substring) -> DigestField {
    let value = item.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
    guard value.count >= 2, value.hasPrefix(":"), value.hasSuffix(":"),
      let digest = Data(base64Encoded: String(value.dropFirst().dropLast())), digest.count == 32
    else { return .malformed }
    return .sha256(digest)
  }

  /// Returns the value of a field with one digest.
  ///
  /// - Parameter sha256: The digest, 32 bytes.
  public static func value(sha256: Data) -> String { "sha-256=:\(sha256.base64EncodedString()):" }
}
