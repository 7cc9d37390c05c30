import HTTPTypes
import Hummingbird
import News
import NewsPages

extension ConsolePages {
  /// Returns the page of an error.
  ///
  /// - Parameter headers: The header fields that belong to the error.
  func errorPage(of problem: Problem, headers: HTTPFields) -> Response {
    let (title, text) = words(for: problem)
    var values = PageValues()
    values.set("status", problem.status)
    values.set("explanation", text)
    // The words of an editor. Those of other problems are for programmers.
    values.set("detail", problem.status == 410 ? problem.detail : nil)
    values.set("fieldErrors", (problem.errors ?? []).map(fieldError))
    values.set("hasFieldErrors", problem.errors?.isEmpty == false)
    values.set("backLink", link(ConsolePath.items))
    return page(
      "error", title: title, status: .init(code: problem.status), headers: kept(headers), values)
  }

  /// Returns a sentence about an error that a form shows above its fields.
  func message(of problem: Problem) -> String { words(for: problem).text }

  /// Returns the title and the sentence about an error: those of its type, or else those of its status.
  private func words(for problem: Problem) -> (title: String, text: String) {
    let name = problem.type.split(separator: "/").last.map(String.init) ?? ""
    if let text = texts.texts[name], name.hasPrefix("form-") { return (texts.text("error-form-title"), text) }
    for key in ["error-\(name)", "error-\(problem.status)"] {
      if let title = texts.texts["\(key)-title"] { return (title, texts.text("\(key)-text")) }
    }
    return (texts.text("error-500-title"), texts.text("error-500-text"))
  }

  private func fieldError(_ error: FieldError) -> PageValues {
    var values = PageValues()
    values.set("errorField", fieldLabel(error.field))
    values.set("errorRule", ruleText(error.rule))
    return values
  }

  /// Returns the label of a field of an item, such as `attachments[0].alt`; the name itself for another field.
  func fieldLabel(_ field: String) -> String {
    let name = field.split(separator: ".").last.map(String.init) ?? field
    return texts.texts["field-\(name.prefix { $0 != "[" })"] ?? field
  }

  /// Returns a rule of the API in the language of the console; in English if the catalogue does not have it.
  func ruleText(_ rule: String) -> String {
    FieldRule(rule).map { texts.text($0.key, $0.values) } ?? rule
  }

  /// The fields of an error that a browser understands. Those for clients of the API would open a dialog.
  private func kept(_ headers: HTTPFields) -> HTTPFields {
    var kept = HTTPFields()
    for name in [HTTPField.Name.allow, .retryAfter] { kept[name] = headers[name] }
    return kept
  }
}

/// A rule of the API about a field, as a text of the catalogue.
struct FieldRule {
  /// The key of the text.
  let key: String
  /// The values in the text.
  var values: [String: String] = [:]

  /// The rules without values.
  private static let keys = [
    "is required": "rule-required", "must not be blank": "rule-blank",
    "must not contain control characters": "rule-controls",
    "is required for a scheduled item": "rule-schedule-required",
    "must be in the future for a scheduled item": "rule-schedule-past",
    "must not be in the future for a published item; the state scheduled publishes it then": "rule-publish-future",
    "must be after publishAt": "rule-expiry-order", "must be in the future": "rule-expiry-past",
    "must be an RFC 3339 date such as 2026-11-21T08:30:00Z": "rule-date",
    "must be a BCP 47 language tag such as en or pt-BR": "rule-language",
    "must be an absolute http or https URL of at most 2048 bytes": "rule-url",
    "must be an array of at most 16 topics, each matching [a-z0-9-]{1,64}": "rule-topics",
    "must be an array of at most 32 elements": "rule-attachments",
    "must match [a-z0-9-]{1,64}": "rule-slug", "must be the slug of another topic": "rule-other-topic",
    "must be an object of at most 64 titles by BCP 47 language tag, each one line of at most 256 bytes": "rule-titles",
    "must be the only title in its language": "rule-title-language",
  ]

  /// - Returns: nil for a rule that the catalogue does not have.
  init?(_ rule: String) {
    if let key = Self.keys[rule] {
      self.init(key: key)
    } else if let match = rule.wholeMatch(of: /must not exceed ([0-9]+) bytes in UTF-8/) {
      self.init(key: "rule-too-long", values: ["bytes": String(match.1)])
    } else if let match = rule.wholeMatch(of: /must be existing topics; not found: (.+)/) {
      self.init(key: "rule-unknown-topics", values: ["topics": String(match.1)])
    } else if let match = rule.wholeMatch(of: /must be a whole number from (-?[0-9]+) to (-?[0-9]+)/) {
      self.init(key: "rule-number", values: ["lowest": String(match.1), "highest": String(match.2)])
    } else if let match = rule.wholeMatch(of: /(?s)must be an address that can be requested: (.+)/) {
      self.init(key: "rule-feed-address", values: ["reason": String(match.1)])
    } else if rule.hasPrefix("must be existing files; not found: ") {
      self.init(key: "rule-unknown-files")
    } else {
      return nil
    }
  }

  private init(key: String, values: [String: String] = [:]) {
    (self.key, self.values) = (key, values)
  }

  /// The keys of all texts that rules have.
  static var allKeys: [String] {
    keys.values + ["rule-too-long", "rule-unknown-topics", "rule-unknown-files", "rule-number", "rule-feed-address"]
  }
}
