extension [UInt8] {
  /// Returns random bytes of the system's generator, for secrets.
  package static func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in .random(in: .min ... .max, using: &generator) }
  }
}
