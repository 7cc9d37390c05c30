package import Foundation
import News

extension UUID {
  /// Creates a UUIDv7 (RFC 9562 section 5.7) with 48 bits of milliseconds and 74 random bits. Ids of one process sort
  /// by the millisecond of their creation, which keeps the index of items dense.
  package static func version7(at date: Date) -> UUID {
    let milliseconds = UInt64(max(0, RFC3339.milliseconds(of: date)))
    var generator = SystemRandomNumberGenerator()
    let (a, b) = (generator.next(), generator.next())
    let high = milliseconds << 16 | 0x7000 | a & 0x0fff
    let low = b & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
    func byte(_ value: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: value >> (56 - 8 * index)) }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
        byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5),
        byte(low, 6), byte(low, 7)
      ))
  }
}
