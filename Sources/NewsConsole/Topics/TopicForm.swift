import HTTPEdge
import News
import NewsAPI

/// The fields of a topic's form, as they were typed.
struct TopicForm: Sendable, Equatable {
  /// A title in a language. Both texts may be empty.
  struct Title: Sendable, Equatable {
    var language = ""
    var text = ""

    /// Whether the title is left out.
    var isOmitted: Bool { text.isBlank }
    var isEmpty: Bool { language.isBlank && text.isBlank }
  }

  /// The maximum number of titles that a form sends. The API accepts 64.
  static let maximumTitles = 70
  /// The number of empty titles that a form offers.
  static let spareTitles = 2
  private static let maximumTitleBytes = 256

  /// The slug of a new topic; that of an existing one is in the path.
  var slug = ""
  var position = "0"
  var titles: [Title] = []
  /// The revision that the form was made from; nil for a new topic.
  var revision: Int?

  /// Creates the form of a new topic.
  ///
  /// - Parameter language: The language of the first title.
  init(language: String) {
    titles = [Title(language: language)]
  }

  /// Creates the form of a topic.
  init(_ topic: Topic) {
    position = "\(topic.position)"
    titles = topic.titles.sorted { $0.key < $1.key }.map { Title(language: $0.key, text: $0.value) }
    revision = topic.revision
  }

  /// Creates the form that was sent.
  init(_ fields: FormFields) {
    slug = fields.first("slug") ?? ""
    position = fields.first("position") ?? ""
    revision = fields.first("revision").flatMap { Int($0) }
    titles = (0..<Self.maximumTitles).compactMap { index in
      guard let text = fields.first(Self.textField(index)) else { return nil }
      return Title(language: fields.first(Self.languageField(index)) ?? "", text: text)
    }
  }

  /// Returns the name of the field with the language of a title.
  static func languageField(_ index: Int) -> String { "title-\(index)-language" }

  /// Returns the name of the field with the text of a title.
  static func textField(_ index: Int) -> String { "title-\(index)-text" }

  /// The form with empty titles at its end.
  var withSpareTitles: TopicForm {
    var form = self
    form.titles = titles.filter { !$0.isEmpty }
    let count = min(max(form.titles.count + Self.spareTitles, titles.count), Self.maximumTitles)
    form.titles += Array(repeating: Title(), count: max(0, count - form.titles.count))
    return form
  }

  /// The members of a JSON object, as in the body of a write of the API.
  ///
  /// - Parameter isNew: Whether the object is that of a new topic.
  func members(isNew: Bool) -> [String: JSONValue] {
    var members: [String: JSONValue] = ["position": Int(position).map { .integer($0) } ?? .string(position)]
    if isNew { members["slug"] = .string(slug) }
    let pairs = titles.filter { !$0.isOmitted }.map { ($0.language, JSONValue.string($0.text)) }
    members["titles"] = .object(Dictionary(pairs) { first, _ in first })
    members["revision"] = revision.map { .integer($0) }
    return members
  }

  /// Checks the form.
  ///
  /// - Parameter isNew: Whether the form is that of a new topic.
  /// - Returns: The broken rules by name of their field.
  func errors(isNew: Bool) -> [String: RuleText] {
    var errors: [String: RuleText] = [:]
    var languages: Set<String> = []
    for (index, title) in titles.enumerated() where !title.isOmitted {
      let language = title.language
      if language.isBlank {
        errors[Self.languageField(index)] = RuleText(.required)
      } else if !LanguageTag.isValid(language) {
        errors[Self.languageField(index)] = RuleText(.languageTag)
      } else if !languages.insert(language).inserted {
        errors[Self.languageField(index)] = RuleText("rule-title-language")
      }
      errors[Self.textField(index)] = Self.rule(brokenBy: title.text).map { RuleText($0) }
    }
    do {
      _ = try TopicBody(members(isNew: isNew), needsSlug: isNew)
    } catch {
      let others = (error as? ProblemError)?.problem.errors ?? []
      // The rule about all titles is broken too if that about one of them is.
      for error in others where error.field != "titles" || errors.isEmpty { errors[error.field] = RuleText(error) }
    }
    return errors
  }

  private static func rule(brokenBy text: String) -> FieldRule? {
    if text.utf8.count > maximumTitleBytes { return .maximumBytes(maximumTitleBytes) }
    return text.utf8.contains { $0 < 32 || $0 == 127 } ? .noControlCharacters : nil
  }
}
