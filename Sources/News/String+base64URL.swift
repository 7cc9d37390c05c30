extension String {
  /// Encodes bytes in base64url without padding (RFC 4648 section 5).
  package init(base64URL bytes: some Sequence<UInt8>) {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.underestimatedCount * 8 + 5) / 6)
    var (bits, count): (UInt32, UInt32) = (0, 0)
    for byte in bytes {
      (bits, count) = (bits << 8 | UInt32(byte), count + 8)
      while count >= 6 {
        count -= 6
        text.append(Self.base64URLDigits[Int(bits >> count & 63)])
      }
    }
    if count > 0 { text.append(Self.base64URLDigits[Int(bits << (6 - count) & 63)]) }
    self = String(decoding: text, as: UTF8.self)
  }

  private static let base64URLDigits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
