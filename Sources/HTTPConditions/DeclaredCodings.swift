/// The codings that `Content-Encoding` declares for a content, and those that its first bytes have (RFC 9110 section 8.4).
///
/// Servers and caches often name a coding that the content does not have, or a word that is no coding, such as
/// `aws-chunked` or `utf-8`. The first bytes decide, as far as codings differ in them.
///
///     let codings = DeclaredCodings(lines: ["aws-chunked, gzip"])
///     print(codings.names, codings.undecodable == nil)  // ["aws-chunked", "gzip"] true
///     print(DeclaredCodings.isGzip([0x89, 0x50, 0x4E, 0x47]))  // false: the content is a plain picture
public struct DeclaredCodings: Hashable, Sendable {
  /// The maximum number of codings on top of each other.
  public static let maximumLayers = 3
  /// The codings that are not decoded. Their content has no common first bytes, so that the name decides.
  private static let undecodableNames: Set<String> = ["br", "compress", "dcb", "dcz", "zstd"]

  private static let synonyms = ["x-gzip": "gzip", "x-compress": "compress", "x-deflate": "deflate", "zlib": "deflate"]

  /// The names in the order in which the codings were applied, in lower case and without `identity`. `gzip` and `compress`
  /// stand for their names with `x-` (RFC 9110 section 8.4.1).
  public let names: [String]

  /// Parses the lines of a field.
  ///
  /// - Parameter lines: The values of the field lines.
  public init(lines: [String]) {
    // A character can have any number of marks, and comparing them takes quadratic time, so the names are cut after bytes.
    names = lines.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
      .map { name in String(decoding: name.filter { $0 > 0x20 }.prefix(32), as: UTF8.self).lowercased() }
      .filter { !$0.isEmpty && $0 != "identity" }
      .map { Self.synonyms[$0] ?? $0 }
  }

  /// The first name of a coding that is not decoded; nil if there is none.
  public var undecodable: String? { names.first { Self.undecodableNames.contains($0) } }

  /// Whether a coding is declared that can be decoded.
  public var isDecodable: Bool { names.contains("gzip") || isDeflate }

  /// Whether the coding `deflate` is declared.
  public var isDeflate: Bool { names.contains("deflate") }

  /// Whether a content begins like the gzip format with the only compression method (RFC 1952 section 2.3.1).
  public static func isGzip(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: [0x1F, 0x8B, 0x08]) }

  /// Whether a content begins like the zlib format, which is that of `deflate` (RFC 1950 section 2.2).
  public static func isZlib(_ bytes: some Sequence<UInt8>) -> Bool {
    let head = Array(bytes.prefix(2))
    // The low half of the first byte is the method, the high half the size of the window. The two bytes are a multiple of 31.
    return head.count == 2 && head[0] & 0x0F == 8 && head[0] >> 4 <= 7 && (Int(head[0]) << 8 | Int(head[1])) % 31 == 0
  }
}
