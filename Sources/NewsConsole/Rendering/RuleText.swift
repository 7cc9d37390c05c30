import News
import NewsPages

/// The sentence about a broken rule: a text of the catalogue, and the values in it.
struct RuleText: Sendable, Equatable {
  /// The key of the text.
  let key: String
  let values: [String: String]

  init(_ key: String, _ values: [String: String] = [:]) {
    (self.key, self.values) = (key, values)
  }

  /// Creates the sentence about the rule that a field breaks.
  init(_ error: FieldError) {
    self = error.brokenRule.map { RuleText($0) } ?? .unspecific
  }

  /// Creates the sentence about a rule.
  init(_ rule: FieldRule) {
    self =
      switch rule {
      case .required, .notEmpty: RuleText("rule-required")
      case .notBlank: RuleText("rule-blank")
      case .noControlCharacters: RuleText("rule-controls")
      case .maximumBytes(let count): RuleText("rule-too-long", ["bytes": "\(count)"])
      case .number(let range):
        RuleText("rule-number", ["lowest": "\(range.lowerBound)", "highest": "\(range.upperBound)"])
      case .maximumElements(let count): RuleText("rule-too-many", ["count": "\(count)"])
      case .time: RuleText("rule-date")
      case .languageTag: RuleText("rule-language")
      case .webAddress, .fileAddress: RuleText("rule-url")
      case .slug: RuleText("rule-slug")
      case .topics: RuleText("rule-topics")
      case .titles: RuleText("rule-titles")
      case .existingTopics(let slugs): RuleText("rule-unknown-topics", ["topics": slugs.joined(separator: ", ")])
      case .otherTopic: RuleText("rule-other-topic")
      case .existingFiles: RuleText("rule-unknown-files")
      case .scheduleWithTime: RuleText("rule-schedule-required")
      case .scheduleInFuture, .expiryInFuture: RuleText("rule-future")
      case .publicationNotInFuture: RuleText("rule-publish-future")
      case .expiryAfterPublication: RuleText("rule-expiry-order")
      case .dateNotInFuture: RuleText("rule-date-future")
      case .dateNotAfterPublication: RuleText("rule-date-order")
      case .textBesideHTML: RuleText("rule-text-beside-html")
      case .requestableAddress: RuleText("rule-feed-address")
      case .allowedAddress: RuleText("rule-webhook-address")
      case .passwordKey: RuleText("rule-password-key")
      case .passwordAgain: RuleText("rule-password-again")
      case .unlisted(let count): RuleText("rule-unlisted", ["count": "\(count)"])
      case .mediaType, .knownParameter, .notRepeated, .validCursor, .other: .unspecific
      }
  }

  /// The sentence about rules that no form of the console breaks, only a changed address or another client.
  private static let unspecific = RuleText("rule-other")
}

extension ConsolePages {
  /// Returns the sentence about a rule in the language of the console.
  func text(_ rule: RuleText) -> String { texts.text(rule.key, rule.values) }
}
