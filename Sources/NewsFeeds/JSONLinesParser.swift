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
      let record = try JSONDecoder().decode(JSONRecord.self, from: Data(line))
      guard record.line.sourceDigest == nil else {
        return queue.finish() + [ExportedLineReader.event(for: record.line, at: position)]
      }
      var entry = RawEntry(record.line, at: position)
      entry.exclusion = record.state.exclusion
      return queue.add(entry)
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

/// A line with the state that it may have in the exports of other systems.
private struct JSONRecord: Decodable {
  let line: JSONLine
  let state: RecordState

  init(from decoder: any Decoder) throws {
    line = try JSONLine(from: decoder)
    state = try RecordState(from: decoder)
  }
}

extension RawEntry {
  fileprivate init(_ line: JSONLine, at position: FeedPosition) {
    self.init(position: position, source: line.source?.trimmed.nonEmpty ?? JSONLinesParser.defaultSource)
    id = line.id.flatMap { UUID(uuidString: $0.trimmed) }
    guid = line.guid?.trimmed.nonEmpty ?? line.url?.trimmed.nonEmpty ?? line.id?.trimmed.nonEmpty
    link = line.url
    base = line.url
    dates = line.date.map { [$0] } ?? []
    title = RawText(line.title, .plain)
    summary = RawText(line.summary, .plain)
    content = RawText(line.html, .html)
    text = line.text
    categories = line.topics ?? []
    language = line.language
    authors = line.author.map { [$0] } ?? []
    breaking = line.breaking ?? false
    attachments = line.attachments ?? []
  }
}
