import Foundation
package import HTTPEdge
import News
import NewsStore
package import SafeHTML

/// The body of an editor's write: the content of an item, with the id and the revision that it overwrites.
package struct ItemBody: Sendable {
  /// The id in the body, if it has one.
  var id: UUID?
  var revision: Int?
  /// The state in the body, if it has one.
  var state: EditorialItem.State?
  /// The content, whose state is meaningless.
  var content: ItemContent
  /// Whether readers are to be alerted to the item.
  var requestsAlert = false
}

extension ItemBody {
  /// Reads a body and checks the rule of each field.
  ///
  /// - Parameters:
  ///   - fields: The members of the JSON object.
  ///   - html: The sanitised form of the field `html`, or nil if there is none. The field itself is only checked.
  /// - Throws: `ProblemError`, 422, which names the invalid fields.
  package init(_ fields: [String: JSONValue], html: SafeHTML?) throws {
    var reader = FieldReader(fields)
    reader.ignore("version", "updated", "edited", "retractionReason", "erased")
    let id = reader.id("id")
    let revision = reader.integer("revision", in: 1...Int.max)
    let state = reader.state()
    let requestsAlert = reader.requestsAlert()
    let content = ItemContent(
      state: state ?? .draft,
      publishAt: reader.date("publishAt"),
      expireAt: reader.date("expireAt"),
      date: reader.date("date"),
      text: reader.text("text", maximumBytes: 262_144, isRequired: true) ?? "",
      title: reader.text("title", maximumBytes: 1024),
      summary: reader.text("summary", maximumBytes: 16_384),
      html: reader.html() == nil ? nil : html.flatMap { $0.html.isEmpty ? nil : $0.html },
      topics: reader.topics(),
      language: reader.language("language"),
      url: reader.url("url"),
      author: reader.text("author", maximumBytes: 256),
      breaking: reader.bool("breaking") ?? false,
      attachments: reader.attachments())
    reader.finish()
    guard reader.errors.isEmpty else { throw ProblemError.invalidFields(reader.errors.list) }
    self.init(id: id, revision: revision, state: state, content: content, requestsAlert: requestsAlert)
  }
}

extension ItemBody {
  /// Reads a body, checks the rule of each field, and sanitises the HTML. That takes long if there is much of it.
  ///
  /// - Throws: `ProblemError`, 422, which names the invalid fields.
  init(sanitizing fields: [String: JSONValue]) throws {
    try self.init(fields, html: SafeHTML(in: fields))
  }
}

extension SafeHTML {
  /// Sanitises the HTML of a body; nil if the body has no HTML, or none that `ItemBody` accepts.
  init?(in fields: [String: JSONValue]) {
    var reader = FieldReader(fields)
    guard let source = reader.html() else { return nil }
    // Links of the text to its own page stay inside of it.
    let address: String? = if case .string(let url) = fields["url"] { url } else { nil }
    self.init(source, address: address)
  }
}

extension FieldReader {
  /// Reads the state that a write names.
  mutating func state() -> EditorialItem.State? {
    let rule = "must be draft, review, scheduled or published"
    let state: EditorialItem.State? = choice("state", rule: .other(rule))
    guard state == .retracted || state == .expired else { return state }
    refuse("state", "\(rule); use DELETE to retract the item")
    return nil
  }

  /// Reads whether a write requests an alert: `"push":{"alert":true}`.
  mutating func requestsAlert() -> Bool {
    guard let fields = object("push") else { return false }
    var reader = FieldReader(fields, prefix: "push.")
    let requestsAlert = reader.bool("alert") ?? false
    reader.finish()
    add(reader.errors)
    return requestsAlert
  }

  fileprivate mutating func date(_ name: String) -> Date? {
    value(name, rule: .time) {
      if case .string(let text) = $0 { RFC3339.date(from: text).map(RFC3339.truncated) } else { nil }
    }
  }

  /// Reads the HTML as the editor has written it, not sanitised yet.
  fileprivate mutating func html() -> String? { text("html", maximumBytes: 524_288) }

  /// Reads sorted slugs without duplicates.
  mutating func topics() -> [String] {
    let slugs = value("topics", rule: .topics) { value in
      guard case .array(let elements) = value, elements.count <= 16 else { return [String]?.none }
      let slugs = elements.compactMap { if case .string(let slug) = $0, TopicSlug.isValid(slug) { slug } else { nil } }
      return slugs.count == elements.count ? slugs : nil
    }
    return Scope(topics: slugs ?? []).topics
  }

  /// Reads a text with the syntax of a BCP 47 tag (RFC 5646 section 2.1), of at most 35 characters (section 4.4.1).
  mutating func language(_ name: String) -> String? {
    value(name, rule: .languageTag) {
      if case .string(let tag) = $0, LanguageTag.isValid(tag) { tag } else { nil }
    }
  }

  fileprivate mutating func attachments() -> [Attachment] {
    guard let elements = array("attachments", maximum: 32) else { return [] }
    return elements.enumerated().compactMap { index, element in
      guard case .object(let fields) = element else {
        refuse("attachments[\(index)]", "must be an object")
        return nil
      }
      var reader = FieldReader(fields, prefix: "attachments[\(index)].")
      let attachment = reader.attachment()
      reader.finish()
      add(reader.errors)
      return attachment
    }
  }

  private mutating func attachment() -> Attachment {
    let url = value("url", rule: .fileAddress) {
      if case .string(let text) = $0 { Attachment.address(text) } else { nil }
    }
    if url == nil, errors.isEmpty { refuse("url", .required) }
    let type = value("type", rule: .mediaType) {
      if case .string(let type) = $0, MediaType.isValid(type) { type } else { nil }
    }
    if type == nil, !errors.named.contains(where: { $0.field.hasSuffix(".type") }) { refuse("type", .required) }
    return Attachment(
      url: url ?? "", type: type ?? "",
      bytes: integer("bytes", in: Attachment.byteRange),
      width: integer("width", in: Attachment.pixelRange),
      height: integer("height", in: Attachment.pixelRange),
      alt: text("alt", maximumBytes: 1024),
      caption: text("caption", maximumBytes: 2048),
      credit: text("credit", maximumBytes: 256),
      sha256: value("sha256", rule: "must be 64 lowercase hexadecimal digits") {
        if case .string(let digest) = $0, Attachment.isDigest(digest) { digest } else { nil }
      })
  }
}
