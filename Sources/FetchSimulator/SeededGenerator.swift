import Foundation

/// A generator of reproducible random numbers: SplitMix64 (Steele, Lea, Flood, 2014).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  /// Returns a number in 0..<1.
  mutating func unit() -> Double { .random(in: 0..<1, using: &self) }

  /// Returns a normally distributed number with mean 0 and standard deviation 1 (Box and Muller, 1958).
  mutating func normal() -> Double {
    let radius = (-2 * log(1 - unit())).squareRoot()
    return radius * cos(2 * .pi * unit())
  }

  /// Returns the times of independent events, in minutes since midnight.
  ///
  /// - Parameter mean: The mean number of events between the two times.
  mutating func poisson(_ mean: Double, from: LocalTime, to: LocalTime) -> [Double] {
    guard mean > 0 else { return [] }
    var minutes: [Double] = []
    var time = 0.0
    while true {
      time -= log(1 - unit()) / mean
      guard time < 1 else { return minutes }
      minutes.append(from.minutes + time * (to.minutes - from.minutes))
    }
  }
}
