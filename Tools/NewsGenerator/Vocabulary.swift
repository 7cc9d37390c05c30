import TestKit

/// Words with the frequencies of natural language: a few are very frequent, most are rare (Zipf's law).
struct Vocabulary {
  /// A word that occurs in a fixed share of all items, however many there are.
  static let common = "harbour"
  /// A word that occurs in a fixed number of items, however many there are.
  static let rare = "zephyrine"

  private let words: [String]
  /// The index of a word for each of 65,536 equally likely random numbers.
  private let samples: [UInt16]

  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let onsets = "b br c d f g gr h k l m n p pr r s st t tr v".split(separator: " ")
    let vowels = "a e i o u ai ea ou".split(separator: " ")
    var known: Set<String> = []
    while known.count < 30_000 {
      let syllables = 1 + Int(random.next() % 4)
      known.insert(
        (0..<syllables).map { _ in
          onsets[Int(random.next() % 20)] + vowels[Int(random.next() % 8)]
        }.joined() + ["", "n", "s", "ing", "ed"][Int(random.next() % 5)])
    }
    // The shortest words are the most frequent.
    words = known.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    let weights = words.indices.map { 1 / Double($0 + 3) }
    let total = weights.reduce(0, +)
    var samples: [UInt16] = []
    var reached = 0.0
    for (index, weight) in weights.enumerated() {
      reached += weight
      while Double(samples.count) < reached / total * 65_536 { samples.append(UInt16(index)) }
    }
    self.samples = samples
  }

  func word(_ random: inout SplitMix64) -> String {
    words[Int(samples[Int(random.next() % UInt64(samples.count))])]
  }
}
