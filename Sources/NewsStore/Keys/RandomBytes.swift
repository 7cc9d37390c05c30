extension [UInt8] {
  /// Returns random bytes of the system's generator, for secrets.
  package static func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 7)
    // Each number is a system call.
    while bytes.count < count { Swift.withUnsafeBytes(of: generator.next()) { bytes += $0 } }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}
