extension [UInt8] {
  /// Decodes base64url without padding (RFC 4648 section 5).
  ///
  /// - Returns: nil for any other character, an impossible length, and for unused bits that are not zero.
  package init?(base64URL text: some StringProtocol) {
    self = []
    reserveCapacity(text.utf8.count * 6 / 8)
    var (bits, count): (UInt32, UInt32) = (0, 0)
    for character in text.utf8 {
      guard let value = Self.base64URLValue(character) else { return nil }
      (bits, count) = (bits << 6 | value, count + 6)
      if count >= 8 {
        count -= 8
        append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    guard count < 6, bits & (1 << count - 1) == 0 else { return nil }
  }

  private static func base64URLValue(_ character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
