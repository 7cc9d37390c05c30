import Foundation
import HTTPEdge
import News
import NewsStore

/// The fields of the editor's form, as they were typed.
struct ItemForm: Sendable, Equatable {
  /// The names of the fields that are one text.
  static let textFields = ["title", "summary", "text", "html", "language", "author", "url"] + timeFields
  /// The names of the fields besides the times, in the order of the form.
  private static let fields = [
    "title", "summary", "text", "html", "attachments", "topics", "language", "author", "url",
  ]
  /// The names of the fields that are times, in the order of the form.
  static let timeFields = ["publishAt", "expireAt", "date"]

  /// The id of a new item; nil for an existing one, whose id is in the path.
  var id: UUID?
  /// The revision that the form was made from; nil for a new item.
  var revision: Int?
  /// The texts by name of their field. An absent one is empty.
  private(set) var texts: [String: String] = [:]
  var topics: [String] = []
  var isBreaking = false
  /// Whether readers are to be alerted to the item when it is published.
  var requestsAlert = false
  /// The editor's decision about the HTML if only the text has changed; nil without one.
  var htmlChoice: HTMLChoice?
  var attachments: [AttachmentForm] = []

  /// The ways to save a changed text beside unchanged HTML, which readers see in place of the text.
  enum HTMLChoice: String, Sendable {
    case remove, keep

    /// The name of the field.
    static let field = "htmlChoice"
  }

  /// Creates the empty form of a new item.
  ///
  /// - Parameter id: The id that the item receives, so that sending the form twice creates one item.
  init(newItem id: UUID) {
    self.id = id
  }

  /// Creates the form of an item.
  init(_ item: EditorialItem) {
    revision = item.revision
    let news = item.item
    let values = [
      "title": news.title, "summary": news.summary, "text": news.text, "html": news.html, "language": news.language,
      "author": news.author, "url": news.url, "publishAt": item.publishAt.map(FormTime.text),
      "expireAt": item.expireAt.map(FormTime.text), "date": item.hasDate ? FormTime.text(news.date) : nil,
    ]
    texts = values.compactMapValues { $0 }.filter { !$0.value.isEmpty }
    topics = news.topics
    isBreaking = news.breaking
    attachments = news.attachments.map(AttachmentForm.init)
  }

  /// Creates the form that was sent.
  init(_ fields: FormFields) {
    id = fields.first("id").flatMap { UUID(uuidString: $0) }
    revision = fields.first("revision").flatMap { Int($0) }
    for name in Self.textFields {
      if let text = fields.first(name)?.withLineFeeds, !text.isEmpty { texts[name] = text }
    }
    topics = TopicChoices.slugs(chosen: fields.all("topics"), typed: fields.all("otherTopics"))
    isBreaking = fields.first("breaking") != nil
    requestsAlert = fields.first("alert") != nil
    htmlChoice = fields.first(HTMLChoice.field).flatMap { HTMLChoice(text: $0) }
    attachments = (0..<AttachmentForm.maximumCount).compactMap { AttachmentForm(fields, index: $0) }
  }

  /// The size of all texts in bytes.
  var textBytes: Int { texts.values.reduce(0) { $0 + $1.utf8.count } }

  /// Returns the text of a field; empty without one.
  func text(_ name: String) -> String { texts[name] ?? "" }

  /// Sorts errors by the place of their field in the form, such as `attachments[0].alt`. Those of other fields come last.
  static func inOrder(_ errors: [FieldError]) -> [FieldError] {
    let fields = Self.fields + timeFields
    func place(_ error: FieldError) -> Int {
      let name = String(error.field.prefix { $0 != "[" })
      return fields.firstIndex(of: name) ?? fields.count
    }
    let sorted = errors.enumerated().sorted { (place($0.element), $0.offset) < (place($1.element), $1.offset) }
    return sorted.map(\.element)
  }

  /// Returns the form without the time of publication, for a publication at once.
  func withoutSchedule() -> ItemForm {
    var form = self
    form.texts["publishAt"] = nil
    return form
  }

  /// The fields of the form, for another form that sends them again.
  var hiddenFields: [(name: String, value: String)] {
    var fields = Self.textFields.map { (name: $0, value: text($0)) }
    fields += topics.map { (name: "topics", value: $0) }
    if isBreaking { fields.append((name: "breaking", value: "on")) }
    if requestsAlert { fields.append((name: "alert", value: "on")) }
    if let htmlChoice { fields.append((name: HTMLChoice.field, value: htmlChoice.rawValue)) }
    if let id { fields.append((name: "id", value: id.uuidString.lowercased())) }
    if let revision { fields.append((name: "revision", value: String(revision))) }
    for (index, sent) in sentAttachments.enumerated() {
      fields += AttachmentForm.names.map { name in
        (name: AttachmentForm.fieldName(name, index), value: sent.attachment.values[name] ?? "")
      }
    }
    return fields.filter { !$0.value.isEmpty }
  }

  /// The attachments that the item receives, with their positions in the form.
  var sentAttachments: [(index: Int, attachment: AttachmentForm)] {
    attachments.enumerated().filter { !$0.element.isRemoved }.map { (index: $0.offset, attachment: $0.element) }
  }

  /// The members of the item that the form makes, without its revision.
  var content: [String: JSONValue] {
    var members = patch
    members["revision"] = nil
    return members
  }

  /// The members of a JSON Merge Patch with all fields of the form. An empty field is null.
  var patch: [String: JSONValue] {
    var patch: [String: JSONValue] = [:]
    for name in Self.textFields {
      let text = text(name)
      patch[name] = text.isBlank ? .null : .string(Self.timeFields.contains(name) ? FormTime.rfc3339(text) : text)
    }
    patch["topics"] = .array(topics.map { .string($0) })
    patch["breaking"] = .bool(isBreaking)
    patch["attachments"] = .array(sentAttachments.map { .object($0.attachment.members) })
    if let revision { patch["revision"] = .integer(revision) }
    return patch
  }

  /// The members of a new item.
  var creation: [String: JSONValue] {
    var members = patch.filter { $0.value != .null }
    members["revision"] = nil
    if let id { members["id"] = .string(id.uuidString.lowercased()) }
    return members
  }
}

/// The fields of an attachment in the editor's form.
struct AttachmentForm: Sendable, Equatable {
  /// The maximum number of attachments in a form. The API accepts 32.
  static let maximumCount = 40

  private static let textNames = ["url", "type", "alt", "caption", "credit", "sha256"]
  private static let numberNames = ["bytes", "width", "height"]
  /// The names of all fields.
  static let names = textNames + numberNames

  /// The values by name, as the form has them. An absent one is empty.
  private(set) var values: [String: String]
  var isRemoved = false

  init(_ attachment: Attachment) {
    let texts = [
      "url": attachment.url, "type": attachment.type, "alt": attachment.alt, "caption": attachment.caption,
      "credit": attachment.credit, "sha256": attachment.sha256, "bytes": attachment.bytes.map(String.init),
      "width": attachment.width.map(String.init), "height": attachment.height.map(String.init),
    ]
    values = texts.compactMapValues { $0 }
  }

  /// - Parameter index: The position in the form, 0 or more.
  /// - Returns: nil if the form has no attachment at the position.
  init?(_ fields: FormFields, index: Int) {
    guard fields.first(Self.fieldName("url", index)) != nil else { return nil }
    values = [:]
    for name in Self.names {
      if let text = fields.first(Self.fieldName(name, index))?.withLineFeeds, !text.isEmpty { values[name] = text }
    }
    isRemoved = fields.first(Self.fieldName("remove", index)) != nil
  }

  /// Returns the name of a field in the form.
  static func fieldName(_ name: String, _ index: Int) -> String { "attachment-\(index)-\(name)" }

  /// The members of the attachment in JSON.
  var members: [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    for (name, text) in values where !text.isBlank {
      let number = Self.numberNames.contains(name) ? Int(text) : nil
      members[name] = number.map { JSONValue.integer($0) } ?? .string(text)
    }
    return members
  }

  /// The attachment, as far as its fields are valid.
  var attachment: Attachment {
    func number(_ name: String) -> Int? { values[name].flatMap { Int($0) } }
    return Attachment(
      url: values["url"] ?? "", type: values["type"] ?? "", bytes: number("bytes"), width: number("width"),
      height: number("height"), alt: values["alt"], caption: values["caption"], credit: values["credit"],
      sha256: values["sha256"])
  }
}

/// The times of the form, in UTC. Without a script, browsers know no zone in a field of type `datetime-local`.
enum FormTime {
  /// Returns a time as the field has it: `2026-11-21T08:30`, with seconds and milliseconds unless they are 0.
  static func text(_ date: Date) -> String {
    var text = RFC3339.string(from: date)
    for suffix in ["Z", ".000", ":00"] where text.hasSuffix(suffix) { text.removeLast(suffix.count) }
    return text
  }

  /// Returns the RFC 3339 form of what a field has; the text itself if it has another form.
  static func rfc3339(_ text: String) -> String {
    guard let match = text.wholeMatch(of: /([0-9-]{10})T([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:\.[0-9]{1,3})?)?/) else {
      return text
    }
    return "\(match.1)T\(match.2)\(match.3 ?? ":00")Z"
  }
}
