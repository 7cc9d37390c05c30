import Foundation
import News
import NewsFeeds
import NewsStore

/// Writes the items of the store to a file as lines of JSON.
actor Exporter {
  private let file: ExportFile
  private var progress: TransferProgress?
  private var knownTopics: Set<String> = []
  private var count = 0

  init(to file: ExportFile) {
    self.file = file
  }

  func write(_ items: [ExportedItem], of contents: ExportContents) throws {
    let progress = progress ?? TransferProgress(total: contents.items)
    self.progress = progress
    var lines = Data()
    for exported in items {
      let topics = exported.item.topics.filter { knownTopics.insert($0).inserted }.compactMap { slug in
        contents.topics[slug].map { ExportedTopic(slug: slug, titles: $0.titles, position: $0.position) }
      }
      lines += try NewsJSON.encode(
        JSONLine(
          exported.item, source: exported.source, guid: exported.guid, digest: exported.digest, newTopics: topics))
      lines.append(UInt8(ascii: "\n"))
    }
    try file.write(lines)
    count += items.count
    progress.advance(by: items.count, entries: count)
  }

  /// Writes lines of a newsroom.
  func write(_ lines: [String]) throws {
    try file.write(Data((lines.joined(separator: "\n") + "\n").utf8))
  }

  /// Completes the file.
  ///
  /// - Returns: The number of items written.
  func finish() throws -> Int {
    try file.finish()
    progress?.clear()
    return count
  }

  /// Removes the incomplete file, so that it is not taken for an export.
  func discard() {
    progress?.clear()
    file.discard()
  }
}
