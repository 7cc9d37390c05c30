import Crypto
import Foundation
import News
package import NewsStore

/// The cursor of a list, which marks the beginning of the next page for a client. It contains the keyset and a
/// fingerprint of the filters, so that the cursor of another list is rejected.
package struct PageCursor {
  /// The filters of the list in canonical form; nil for a filter that is not set.
  package let filters: [String?]

  package init(filters: [String?]) {
    self.filters = filters
  }

  private var fingerprint: [UInt8] {
    let text = filters.map { $0.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined(separator: ",")
    return Array(SHA256.hash(data: Array(text.utf8)).prefix(8))
  }

  /// Encodes a cursor in 43 characters of base64url: eight bytes of milliseconds, the 16 bytes of the id, eight bytes
  /// of the fingerprint.
  package func text(_ keyset: Keyset) -> String {
    var bytes = withUnsafeBytes(of: Int64(RFC3339.milliseconds(of: keyset.date)).bigEndian) { Array($0) }
    withUnsafeBytes(of: keyset.id.uuid) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: fingerprint)
    return String(base64URL: bytes)
  }

  /// Encodes the cursor of a list with numbered rows in 22 characters: eight bytes of the position, eight bytes of the
  /// fingerprint.
  package func text(position: Int) -> String {
    String(base64URL: withUnsafeBytes(of: Int64(position).bigEndian) { Array($0) } + fingerprint)
  }

  /// Decodes a cursor.
  ///
  /// - Returns: nil for a malformed cursor, or one of other filters.
  package func keyset(_ text: String) -> Keyset? {
    guard let bytes = bytes(text, count: 32) else { return nil }
    let milliseconds = Self.number(bytes)
    // The years 0 to 9999, so that the database can hold the date of a forged cursor.
    guard -62_167_219_200_000...253_402_300_799_999 ~= milliseconds else { return nil }
    var id: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &id) { _ = bytes.dropFirst(8).prefix(16).copyBytes(to: $0) }
    return Keyset(date: Date(timeIntervalSince1970: Double(milliseconds) / 1000), id: UUID(uuid: id))
  }

  /// Decodes the cursor of a list with numbered rows.
  ///
  /// - Returns: nil for a malformed cursor, or one of another list.
  package func position(_ text: String) -> Int? { bytes(text, count: 16).map { Int(Self.number($0)) } }

  /// Decodes a cursor of a number of bytes, the last of which are the fingerprint.
  private func bytes(_ text: String, count: Int) -> Data? {
    let characters = (count * 4 + 2) / 3
    guard text.utf8.count == characters else { return nil }
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
    let padding = String(repeating: "=", count: (4 - characters % 4) % 4)
    guard let bytes = Data(base64Encoded: base64 + padding), bytes.count == count, String(base64URL: bytes) == text,
      Array(bytes.suffix(8)) == fingerprint
    else { return nil }
    return bytes
  }

  /// The first eight bytes as a number.
  private static func number(_ bytes: Data) -> Int64 { bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) } }
}

extension QueryParameters {
  package mutating func cursor(_ cursor: @autoclosure () -> PageCursor, named name: String = "cursor") -> Keyset? {
    value(name, rule: .validCursor) { cursor().keyset($0) }
  }

  /// Reads the cursor of a list with numbered rows.
  package mutating func position(_ cursor: PageCursor) -> Int? {
    value("cursor", rule: .validCursor) { cursor.position($0) }
  }
}

extension PageCursor {
  /// Creates the cursor of a list of published items, whatever its page.
  init(_ query: ItemQuery) {
    var filters: [String?] = [
      "items", query.scope.topics.joined(separator: ","), query.language?.lowercased(), query.author,
      query.from.map(RFC3339.string), query.to.map(RFC3339.string),
      query.search?.text,
    ]
    // Cursors from before this filter existed remain valid.
    if let isBreaking = query.isBreaking { filters.append("\(isBreaking)") }
    self.filters = filters
  }
}
