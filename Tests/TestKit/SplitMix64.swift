/// A random number generator with the same sequence in every run (Steele, Lea, Flood: Fast Splittable Pseudorandom
/// Number Generators, 2014).
///
///     var generator = SplitMix64(seed: 1)
///     let order = ["publish", "retract", "restart"].shuffled(using: &generator)
///     print(order)
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator; equal seeds produce equal sequences.
  public init(seed: UInt64) {
    state = seed
  }

  /// Returns the next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
