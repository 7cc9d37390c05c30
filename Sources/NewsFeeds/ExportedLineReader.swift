internal import Foundation
package import News
internal import SafeHTML

/// Reads the lines of an export. The fields are taken unchanged, or the line is skipped.
///
/// Only HTML is sanitised again, which leaves sanitised HTML unchanged.
package enum ExportedLineReader {
  private struct InvalidField: Error, CustomStringConvertible {
    let message: String

    var description: String { message }
  }

  static func event(for line: JSONLine, at position: FeedPosition) -> FeedEvent {
    do {
      return .entry(try entry(from: line))
    } catch {
      return .skipped(
        FeedProblem(position: position, message: (error as? InvalidField)?.message ?? "cannot be read"))
    }
  }

  private static func entry(from line: JSONLine) throws -> FeedEntry {
    guard let text = try text(line.text, EntryBuilder.maximumTextBytes, "text")?.nonEmpty else {
      throw InvalidField(message: "has no text")
    }
    let digest = try required(line.sourceDigest.flatMap(Self.digest), "sourceDigest")
    let topics = try (line.topics ?? []).map { try required(TopicSlug.isValid($0) ? $0 : nil, "topics") }
    return FeedEntry(
      id: try required(line.id.flatMap { UUID(uuidString: $0) }, "id"),
      source: digest.isEmpty ? nil : try required(try self.text(line.source, .max, "source"), "source"),
      guid: digest.isEmpty ? nil : try required(try self.text(line.guid, .max, "guid"), "guid"),
      digest: digest.isEmpty ? nil : digest,
      date: try required(line.date.flatMap(RFC3339.date(from:)), "date"),
      title: try self.text(line.title, EntryBuilder.maximumTitleBytes, "title"),
      summary: try self.text(line.summary, EntryBuilder.maximumSummaryBytes, "summary"),
      text: text,
      html: line.html.flatMap { SafeHTML($0, base: nil).html.nonEmpty },
      categories: try within(EntryBuilder.maximumCategories, topics, "topics").map {
        FeedCategory(slug: $0, label: $0)
      },
      language: try line.language.map { try required(LanguageTag.isValid($0) ? $0 : nil, "language") },
      url: try line.url.map { try required(WebLink.normalised($0), "url") },
      author: try self.text(line.author, EntryBuilder.maximumAuthorBytes, "author"),
      breaking: line.breaking ?? false,
      attachments: try within(EntryBuilder.maximumAttachments, line.attachments ?? [], "attachments").map(attachment),
      isCopy: true,
      newTopics: try (line.newTopics ?? []).map(topic))
  }

  private static func required<Value>(_ value: Value?, _ name: String) throws -> Value {
    guard let value else { throw InvalidField(message: "the field \"\(name)\" is missing or cannot be read") }
    return value
  }

  private static func within<Element>(_ limit: Int, _ list: [Element], _ name: String) throws -> [Element] {
    guard list.count <= limit else { throw InvalidField(message: "has \(list.count) \(name), more than \(limit)") }
    return list
  }

  private static func within(_ range: ClosedRange<Int>, _ number: Int?, _ name: String) throws -> Int? {
    try number.map { try required(range ~= $0 ? $0 : nil, name) }
  }

  /// Checks a text. PostgreSQL's `text` cannot hold NUL.
  private static func text(_ text: String?, _ limit: Int, _ name: String) throws -> String? {
    guard let text else { return nil }
    guard text.utf8.count <= limit else {
      throw InvalidField(message: "the \(name) has \(text.utf8.count) bytes, more than \(limit)")
    }
    guard !text.utf8.contains(0) else { throw InvalidField(message: "the \(name) has a NUL character") }
    guard !text.hasControlCharacters else { throw InvalidField(message: "the \(name) has control characters") }
    return text
  }

  /// Checks an attachment by the rules of written ones.
  ///
  /// - Throws: An error whose description names the field.
  package static func attachment(_ attachment: Attachment) throws -> Attachment {
    var attachment = attachment
    attachment.url = try required(Attachment.address(attachment.url), "attachments.url")
    attachment.type = try required(MediaType.isValid(attachment.type) ? attachment.type : nil, "attachments.type")
    attachment.alt = try text(attachment.alt, EntryBuilder.maximumAltBytes, "alt")
    attachment.caption = try text(attachment.caption, EntryBuilder.maximumCaptionBytes, "caption")
    attachment.credit = try text(attachment.credit, EntryBuilder.maximumCreditBytes, "credit")
    attachment.bytes = try within(Attachment.byteRange, attachment.bytes, "attachments.bytes")
    attachment.width = try within(Attachment.pixelRange, attachment.width, "attachments.width")
    attachment.height = try within(Attachment.pixelRange, attachment.height, "attachments.height")
    attachment.sha256 = try attachment.sha256.map {
      try required(Attachment.isDigest($0) ? $0 : nil, "attachments.sha256")
    }
    return attachment
  }

  private static func topic(_ topic: ExportedTopic) throws -> ExportedTopic {
    for (language, title) in topic.titles {
      guard LanguageTag.isValid(language) else {
        throw InvalidField(message: "the topic's language \"\(language)\" is not a language tag")
      }
      _ = try text(title, EntryBuilder.maximumLabelBytes, "topic's title")
    }
    return try required(TopicSlug.isValid(topic.slug) ? topic : nil, "newTopics")
  }

  /// Parses 32 bytes in hexadecimal. An empty text gives empty data.
  private static func digest(_ text: String) -> Data? {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, [0, 64].contains(digits.count) else { return nil }
    return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }
}
