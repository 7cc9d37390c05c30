import HTTPEdge
import News
import NewsStore

/// The body of an editor's write of a webhook.
struct WebhookBody {
  /// The maximum number of topics.
  private static let maximumTopics = 32

  let content: WebhookContent

  /// Reads a body and checks the rule of each field.
  ///
  /// - Throws: `ProblemError`, 422, which names the invalid fields.
  init(_ fields: [String: JSONValue]) throws {
    var reader = FieldReader(fields)
    reader.ignore("created", "disabledReason", "failingSince", "id", "lastSuccess", "previousSecretUntil", "revision")
    content = WebhookContent(
      url: reader.requestableAddress("url"), events: Self.events(&reader) ?? Webhook.Event.allCases,
      topics: Self.topics(&reader),
      paused: reader.bool("paused") ?? false)
    reader.finish()
    guard reader.errors.isEmpty else { throw ProblemError.invalidFields(reader.errors.list) }
  }

  private static func events(_ reader: inout FieldReader) -> [Webhook.Event]? {
    let names = Webhook.Event.allCases.map(\.rawValue).joined(separator: ", ")
    return reader.value("events", rule: "must be an array of one or more of \(names), without repetitions") { value in
      guard let texts = value.strings, !texts.isEmpty else { return [Webhook.Event]?.none }
      let events = Webhook.Event.allCases.filter { texts.contains($0.rawValue) }
      return events.count == texts.count ? events : nil
    }
  }

  private static func topics(_ reader: inout FieldReader) -> [String]? {
    let rule: FieldRule =
      "must be an array of 1 to \(maximumTopics) topics, each matching [a-z0-9-]{1,64}; omit it for all items"
    return reader.value("topics", rule: rule) { value in
      guard let texts = value.strings, 1...maximumTopics ~= texts.count, texts.allSatisfy({ TopicSlug.isValid($0) })
      else { return [String]?.none }
      return Scope(topics: texts).topics
    }
  }
}
