public import Crypto
public import Foundation

/// The SHA-256 digest of a file, which is the name under which it is stored.
public struct MediaDigest: Hashable, Sendable {
  /// The digest, 32 bytes.
  public let bytes: Data

  /// Creates a digest from a finished hash.
  public init(_ digest: SHA256.Digest) {
    bytes = Data(digest)
  }

  /// Creates a digest from its bytes.
  ///
  /// - Returns: nil unless there are 32 bytes.
  public init?(bytes: Data) {
    guard bytes.count == SHA256.byteCount else { return nil }
    self.bytes = Data(bytes)
  }

  /// Parses a hexadecimal digest.
  ///
  /// - Returns: nil unless the text consists of 64 hexadecimal digits in lower case.
  public init?(hexadecimal: some StringProtocol) {
    let digits = hexadecimal.utf8.compactMap(Self.digit)
    guard digits.count == 2 * SHA256.byteCount, hexadecimal.utf8.count == digits.count else { return nil }
    bytes = Data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
  }

  /// The digest as 64 hexadecimal digits in lower case.
  public var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
