package import Foundation
import PostgresClient

/// The published content of an item as the log describes it. Pages are sorted, cut and validated by these values alone,
/// without the item.
///
/// Two values are equal only if the JSON of the item is.
public struct ItemVersion: Sendable, Hashable {
  /// The id of the item.
  package let id: UUID
  /// The version of the feed at the item's last change.
  package let version: Int
  /// The date of the news in milliseconds since 1970. A `Date` may differ in its last binary digit.
  let date: Int
  /// The time of the last change in milliseconds since 1970.
  let updated: Int
  /// The digest of the public columns (`item_digest()` in the schema).
  private let digest: SIMD2<UInt64>
  /// Upper bounds for the JSON in bytes: without `html`, and of `html` alone (`item_size()` and `json_size()`).
  private let size: Int32
  private let htmlSize: Int32

  /// - Parameters:
  ///   - date: Milliseconds since 1970.
  ///   - updated: Milliseconds since 1970.
  ///   - digest: The digest of the public columns.
  ///   - size: An upper bound for the JSON without `html`, in bytes.
  ///   - htmlSize: An upper bound for `html` as JSON, in bytes.
  package init(
    id: UUID, version: Int, date: Int, updated: Int, digest: SIMD2<UInt64>, size: Int32, htmlSize: Int32 = 0
  ) {
    self.id = id
    self.version = version
    self.date = date
    self.updated = updated
    self.digest = digest
    self.size = size
    self.htmlSize = htmlSize
  }

  /// The time of the last change.
  package var updatedDate: Date { Date(milliseconds: updated) }

  /// Whether the item has `html`.
  var hasHTML: Bool { htmlSize > 0 }

  /// The position in lists.
  var position: ListPosition { ListPosition(date: date, id: id) }

  /// An upper bound for the size of the JSON in bytes.
  package func maximumBytes(html: Bool) -> Int { Int(size) + (html ? Int(htmlSize) : 0) }

  /// A lower bound for the size of the JSON in bytes. `item_size()` allows 700 bytes for names and values of fixed
  /// length, which take at least 180. It also counts the spaces in `jsonb`, up to a sixth of the attachments.
  package func minimumBytes(html: Bool) -> Int {
    max(Self.minimumFixedBytes, (Int(size) - 700 + Self.minimumFixedBytes) / 6 * 5) + (html ? Int(htmlSize) : 0)
  }

  private static let minimumFixedBytes = 180

  /// The values that determine the content of the JSON, in 48 bytes: id, version, `updated` and digest. The hash of a
  /// page covers them instead of its text.
  package func appendIdentity(to bytes: inout [UInt8]) {
    withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: (UInt64(bitPattern: Int64(version)).littleEndian, Int64(updated).littleEndian)) {
      bytes.append(contentsOf: $0)
    }
    withUnsafeBytes(of: digest) { bytes.append(contentsOf: $0) }
  }
}

/// A position in lists, which are sorted from newest to oldest: `<` means newer.
struct ListPosition: Hashable, Comparable {
  let date: Int
  let id: UUID

  static func < (one: ListPosition, other: ListPosition) -> Bool {
    one.date != other.date ? one.date > other.date : one.id.isGreater(than: other.id)
  }
}

extension UUID {
  /// Compares two ids as PostgreSQL does, byte by byte.
  fileprivate func isGreater(than other: UUID) -> Bool {
    let (one, other) = (halves, other.halves)
    return one.0 != other.0 ? one.0 > other.0 : one.1 > other.1
  }

  /// One of 64 bits, the same for equal ids. Sets of ids that have no common bit have no common id.
  var filterBit: UInt64 { 1 << (halves.1 & 63) }

  private var halves: (UInt64, UInt64) {
    withUnsafeBytes(of: uuid) {
      (
        UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }
}

/// Decoding.
extension ItemVersion {
  /// The columns that `init(row:at:)` reads, of a row `c` of the log or of a query for these columns.
  static let columns: PostgresQuery = "c.item, c.version, c.date, c.updated, c.digest, c.size, c.html_size"

  /// The number of those columns.
  static let columnCount = 7

  /// Decodes the columns from a position on.
  init(row: PostgresRow, at first: Int = 0) throws {
    self.init(
      id: try row.decode(first), version: try row.decode(first + 1),
      date: try row.decode(first + 2, as: Milliseconds.self).value,
      updated: try row.decode(first + 3, as: Milliseconds.self).value,
      digest: try row.decode(first + 4, as: Digest.self).value, size: try row.decode(first + 5),
      htmlSize: try row.decode(first + 6))
  }
}

/// A `timestamptz` in milliseconds since 1970.
struct Milliseconds: PostgresDecodable {
  let value: Int

  static func decodePostgres(_ value: PostgresValue) throws -> Milliseconds {
    guard let bytes = value.bytes, value.type == .timestamptz, bytes.count == 8 else {
      throw PostgresValue.Mismatch("the types differ")
    }
    // Microseconds since 2000 (PostgreSQL, src/include/datatype/timestamp.h).
    let microseconds = Int(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
    guard microseconds != .max, microseconds != .min else { throw PostgresValue.Mismatch("it is infinite") }
    return Milliseconds(value: (microseconds - (microseconds < 0 ? 999 : 0)) / 1000 + 946_684_800_000)
  }
}

/// A `bytea` of 16 bytes.
private struct Digest: PostgresDecodable {
  let value: SIMD2<UInt64>

  static func decodePostgres(_ value: PostgresValue) throws -> Digest {
    guard let bytes = value.bytes, value.type == .bytea, bytes.count == 16 else {
      throw PostgresValue.Mismatch("it is not a digest of 16 bytes")
    }
    return Digest(
      value: SIMD2(
        bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }
}
