import TestKit

/// Made-up text with the frequencies of words in natural language (Zipf's law), so that it can be compressed as well.
struct ArticleText {
  private let words: [String]
  private var random: SplitMix64

  /// The number of different words.
  private static let count = 4000

  /// - Parameter seed: The same seed gives the same texts.
  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let onsets = "b br c d f g gr h k l m n p pr r s st t tr v".split(separator: " ")
    let vowels = "a e i o u ai ea ou".split(separator: " ")
    var words: [String] = []
    while words.count < Self.count {
      let syllables = 1 + Int(random.next() % 4)
      let parts = (0..<syllables).map { _ in onsets[Int(random.next() % 20)] + vowels[Int(random.next() % 8)] }
      words.append(parts.joined() + ["", "n", "s", "ing", "ed"][Int(random.next() % 5)])
    }
    (self.words, self.random) = (words, random)
  }

  /// Returns a text of letters, spaces and points.
  ///
  /// - Parameter bytes: The length in bytes.
  mutating func next(bytes: Int) -> String {
    var text = ""
    while text.utf8.count < bytes {
      // The logarithm of the rank of a word is uniform by Zipf's law.
      let share = Double(random.next() >> 11) * 0x1p-53
      var rank = 1.0
      for _ in 0..<Int(share * 12) { rank *= 2 }
      let index = Int(rank) + Int(random.next() % UInt64(rank)) - 1
      text += words[min(index, Self.count - 1)] + (random.next() % 12 == 0 ? ". " : " ")
    }
    return String(text.prefix(bytes))
  }
}
