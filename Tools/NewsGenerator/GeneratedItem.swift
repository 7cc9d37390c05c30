import Foundation
import TestKit

/// A generated item, determined by its number and the seed. Sizes, topics, languages and dates resemble those of a news
/// site that has run for years.
struct GeneratedItem {
  private let number: Int
  private let topic: String?
  private var random: SplitMix64

  init(number: Int, topic: String?, seed: UInt64) {
    self.number = number
    self.topic = topic
    random = SplitMix64(seed: seed &+ UInt64(number) &* 0x9e37_79b9)
  }

  /// Appends the item as one line of JSON. Words consist of letters only, so nothing needs escaping.
  mutating func append(to lines: inout String, _ vocabulary: Vocabulary) {
    let id = UUID(random: &random)
    lines += #"{"id":"\#(id.uuidString.lowercased())","date":"\#(date)","language":"\#(language)","#
    lines += #""url":"https://news.example/\#(number)","topics":["\#(topics.joined(separator: #"",""#))"],"#
    if chance(0.6) { lines += #""author":"Author \#(random.next() % 200)","# }
    if chance(0.02) { lines += #""breaking":true,"# }
    if chance(0.4) { lines += #""attachments":[{"type":"image/jpeg","url":"https://img.example/\#(number).jpg"}],"# }
    lines += #""title":"\#(sentence(Int.random(in: 5...11, using: &random), vocabulary))","#
    if chance(0.5) { lines += #""summary":"\#(sentence(Int.random(in: 12...30, using: &random), vocabulary)).","# }
    lines += #""text":"\#(text(vocabulary))"}"# + "\n"
  }

  /// The date, about two minutes after that of the previous item.
  private var date: String {
    mutating get {
      let seconds = 1_400_000_000 + Double(number) * 120 + Double(random.next() % 90_000) / 1000
      return Date(timeIntervalSince1970: seconds).formatted(
        Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
  }

  private var language: String {
    mutating get { ["en", "en", "en-GB", "en", "de", "fr", "en", "en", "de", "en"][Int(random.next() % 10)] }
  }

  /// One to three of twenty topics; topics with low numbers are the most frequent.
  private var topics: [String] {
    mutating get {
      if let topic { return [topic] }
      let slugs = (0...random.next() % 3).map { _ in
        let share = Double(random.next() % 1000) / 1000
        return "topic-\(Int(share * share * 20))"
      }
      return Array(Set(slugs)).sorted()
    }
  }

  private mutating func text(_ vocabulary: Vocabulary) -> String {
    // 200 to 4000 characters, with a median of 500.
    let length = 150 + Int(exp(4 + 4.25 * Double(random.next() % 1000) / 1000))
    var text = ""
    if chance(0.15) { text += "At the \(Vocabulary.common): " }
    if number < 10_000, number % 2000 == 1000 { text += "A \(Vocabulary.rare) day. " }
    while text.utf8.count < length {
      text += sentence(Int.random(in: 6...24, using: &random), vocabulary) + (chance(0.2) ? #".\n\n"# : ". ")
    }
    return text
  }

  private mutating func sentence(_ words: Int, _ vocabulary: Vocabulary) -> String {
    var sentence = vocabulary.word(&random).capitalized
    for _ in 1..<words { sentence += " " + vocabulary.word(&random) }
    return sentence
  }

  private mutating func chance(_ share: Double) -> Bool {
    Double(random.next() >> 11) * 0x1p-53 < share
  }
}

extension UUID {
  /// Creates a UUID of version 4.
  fileprivate init(random: inout SplitMix64) {
    var bytes = withUnsafeBytes(of: (random.next(), random.next())) { Array($0) }
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
