internal import Foundation
internal import News

/// Parses JSON Lines, one item per line.
struct JSONLinesParser {
  /// The name of the feed of lines without `source`.
  static let defaultSource = "urn:tidings:json-lines"

  /// The kinds of the records of a newsroom.
  private static let newsroomKinds: Set<String> = [
    "newsroom", "topic", "media", "withdrawnMedia", "item", "subscription", "history",
  ]

  private let maximumLineBytes: Int
  private let readsNewsrooms: Bool
  private var queue: EntryQueue
  private var line: [UInt8] = []
  private var number: Int
  /// Whether the rest of the line is skipped.
  private var isTooLong = false

  /// - Parameter firstLine: The number of the first line of the input.
  init(maximumLineBytes: Int, firstLine: Int, options: FeedReader.Options) {
    self.maximumLineBytes = maximumLineBytes
    readsNewsrooms = options.readsNewsrooms
    queue = EntryQueue(missingDate: options.missingDate, skipsRepetitions: false)
    number = firstLine
  }

  mutating func feed(_ bytes: some Collection<UInt8>) -> [FeedEvent] {
    var events: [FeedEvent] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      take(rest[..<end])
      events += endLine()
      rest = rest[rest.index(after: end)...]
    }
    take(rest)
    return events
  }

  mutating func finish() -> [FeedEvent] { endLine() + queue.finish() }

  private mutating func take(_ bytes: some Collection<UInt8>) {
    if isTooLong { return }
    if line.count + bytes.count > maximumLineBytes {
      isTooLong = true
      line = []
    } else {
      line += bytes
    }
  }

  private mutating func endLine() -> [FeedEvent] {
    defer {
      line = []
      isTooLong = false
      number += 1
    }
    let position = FeedPosition.line(number)
    func skipped(_ message: String) -> [FeedEvent] {
      queue.add(.skipped(FeedProblem(position: position, message: message)))
    }
    if isTooLong { return skipped("is larger than \(maximumLineBytes) bytes") }
    if line.allSatisfy({ " \t\r".utf8.contains($0) }) { return [] }
    if JSONKeys.areTooLong(in: line) { return skipped("has a key of more than \(JSONKeys.maximumBytes) bytes") }
    if readsNewsrooms, isNewsroomRecord { return queue.finish() + [.newsroom(line: Data(line), position)] }
    do {
      switch try JSONDecoder().decode(JSONRecord.self, from: Data(line)) {
      case .copy(let line): return queue.finish() + [ExportedLineReader.event(for: line, at: position)]
      case .entry(var entry):
        entry.position = position
        return queue.add(entry)
      }
    } catch {
      return skipped(JSONProblem.message(for: error))
    }
  }
}

extension JSONLinesParser {
  /// Whether the line is an object whose first member is a record of a newsroom.
  fileprivate var isNewsroomRecord: Bool {
    func isBlank(_ byte: UInt8) -> Bool { " \t\r".utf8.contains(byte) }
    var rest = line.drop(while: isBlank)
    for character in "{\"".utf8 {
      guard rest.popFirst() == character else { return false }
      if character == UInt8(ascii: "{") { rest = rest.drop(while: isBlank) }
    }
    let kind = rest.prefix { $0 != UInt8(ascii: "\"") }
    guard kind.count <= 16, Self.newsroomKinds.contains(String(decoding: kind, as: UTF8.self)) else { return false }
    rest = rest.dropFirst(kind.count + 1).drop(while: isBlank)
    guard rest.popFirst() == UInt8(ascii: ":") else { return false }
    return rest.first { !isBlank($0) } == UInt8(ascii: "{")
  }
}

/// A line of an export of our own, or of another system.
private enum JSONRecord: Decodable {
  case copy(JSONLine)
  case entry(RawEntry)

  private enum CodingKeys: CodingKey {
    case id, guid, source, date, text, title, summary, html, topics, language, url, author, breaking, attachments
    case sourceDigest
  }

  init(from decoder: any Decoder) throws {
    var fields = try JSONFields<CodingKeys>(decoder)
    if fields.contains(.sourceDigest) {
      self = .copy(try JSONLine(from: decoder))
      return
    }
    let source = fields.text(.source)?.trimmed.nonEmpty ?? JSONLinesParser.defaultSource
    var entry = RawEntry(position: .line(0), source: source)
    let id = fields.text(.id)
    entry.id = id.flatMap { UUID(uuidString: $0.trimmed) }
    entry.link = fields.text(.url)
    entry.base = entry.link
    entry.guid = fields.text(.guid)?.trimmed.nonEmpty ?? entry.link?.trimmed.nonEmpty ?? id?.trimmed.nonEmpty
    entry.dates = fields.dates(.date)
    entry.title = RawText(fields.text(.title), .plain)
    entry.summary = RawText(fields.text(.summary), .plain)
    entry.content = RawText(fields.text(.html), .html)
    entry.text = fields.text(.text)
    entry.categories = fields.list(.topics, of: JSONTopic.self).map(\.name)
    entry.language = fields.text(.language)
    entry.authors = fields.list(.author, of: JSONName.self).compactMap(\.name)
    entry.breaking = fields.flag(.breaking) ?? false
    let files = fields.list(.attachments, of: JSONAttachment.self)
    for name in files.flatMap(\.lost) { fields.note("attachments.\(name)") }
    entry.attachments = files.map(\.attachment)
    entry.exclusion = try RecordState(from: decoder).exclusion
    entry.losses = fields.losses
    self = .entry(entry)
  }
}

/// A topic: a text, a number, or an object with a name.
private struct JSONTopic: Decodable {
  let name: String

  init(from decoder: any Decoder) throws {
    if let name = try? JSONText(from: decoder).text {
      self.name = name
    } else if let name = try JSONName(from: decoder).name {
      self.name = name
    } else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "has no name"))
    }
  }
}

/// A file of a line, of which only the address is required.
private struct JSONAttachment: Decodable {
  let attachment: Attachment
  /// The names of the fields whose values have the wrong type.
  let lost: [String]

  private enum CodingKeys: CodingKey {
    case url, type, bytes, width, height, alt, caption, credit, sha256
  }

  init(from decoder: any Decoder) throws {
    if let url = try? decoder.singleValueContainer().decode(String.self) {
      (attachment, lost) = (Attachment(url: url, type: ""), [])
      return
    }
    var fields = try JSONFields<CodingKeys>(decoder)
    guard let url = fields.text(.url) else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "has no address"))
    }
    attachment = Attachment(
      url: url, type: fields.text(.type) ?? "", bytes: fields.number(.bytes), width: fields.number(.width),
      height: fields.number(.height), alt: fields.text(.alt), caption: fields.text(.caption),
      credit: fields.text(.credit), sha256: fields.text(.sha256))
    lost = fields.lost
  }
}
