import Foundation
import News
import NewsFeeds
import NewsFollower
import NewsStore

/// Imports the entries of files into the store in chunks. One chunk is read while the previous ones are written.
final class Importer {
  /// The number of entries in a chunk. Other publishers wait while a chunk is published, for about 50 ms. Smaller
  /// chunks cost more commits.
  private static let chunk = 250
  /// The maximum number of chunks that are written at a time: while one is published, the next one is inserted.
  private static let width = 2
  private static let readSize = 1 << 18

  private(set) var summary = ImportSummary()
  /// The counts of all items, those of newsrooms included.
  var total: ImportSummary {
    var total = summary
    total += newsroom.counts
    return total
  }
  /// Whether the import of an expected feed failed.
  private(set) var hasFailed = false
  private let store: NewsStore
  private let progress: TransferProgress
  private let missingDate: MissingDateOption
  private let now: Date
  private var batch: ImportBatch
  private let newsroom: NewsroomImporter
  private var writing: [(ids: Set<UUID>, counts: Task<ImportCounts, any Error>)] = []

  init(store: NewsStore, progress: TransferProgress, missingDate: MissingDateOption, now: Date = Date()) {
    self.store = store
    self.progress = progress
    self.missingDate = missingDate
    self.now = now
    batch = ImportBatch(now: now)
    newsroom = NewsroomImporter(store: store, now: now)
  }

  /// The outcome of a file.
  enum Outcome {
    /// A feed, read to its end.
    case whole
    /// Not a feed, or a feed that breaks off. The entries before that are imported.
    case broken
    /// A file that the system refuses to open, or to read to its end.
    case unreadable
  }

  /// Imports one file.
  func run(_ file: ImportFile) async throws -> Outcome {
    let reader = FeedReader(
      FeedReader.Options(missingDate: missingDate == .now ? .firstSeen(at: now) : .skip, readsNewsrooms: true))
    var isWhole = true
    var isReadable = true
    do {
      let contents = try file.open()
      defer { contents.close() }
      while let bytes = try contents.read(upToCount: Self.readSize) {
        isWhole = try await take(reader.feed(bytes), from: file) && isWhole
        progress.advance(by: bytes.count, entries: summary.read)
      }
      isWhole = try await take(reader.finish(), from: file) && isWhole
    } catch let error as SystemReason {
      report(file, "cannot be read: \(error)")
      isReadable = false
    }
    try await flush()
    try await finishWriting()
    try await newsroom.flush()
    if !isReadable { summary.unreadable += 1 }
    return !isReadable ? .unreadable : isWhole ? .whole : .broken
  }

  func noteFailure() { hasFailed = true }

  private func take(_ events: [FeedEvent], from file: ImportFile) async throws -> Bool {
    var isWhole = true
    for event in events {
      switch event {
      case .entry(let entry):
        summary.read += 1
        if let note = batch.add(entry) { report(file, note) }
        if batch.items.count == Self.chunk { try await flush() }
      case .newsroom(let line, let position): try await take(line, at: position, from: file)
      case .skipped(let problem):
        summary.read += 1
        summary.skipped += 1
        // An export has thousands of records that are not posts, so that they are only counted.
        if let kind = problem.notPublic {
          summary.add(notPublic: kind.terminalSafe)
        } else {
          report(file, "\(problem)")
        }
      case .reduced(let problem), .noted(let problem):
        report(file, "\(problem)")
      case .failed(let problem):
        report(file, "\(problem)")
        isWhole = false
      }
    }
    return isWhole
  }

  /// Adds a record of a newsroom. Its items are counted like those of feeds.
  private func take(_ line: Data, at position: FeedPosition, from file: ImportFile) async throws {
    let record: NewsroomRecord
    do {
      record = try NewsroomRecord(line: line)
    } catch let error as InvalidRecord {
      summary.read += 1
      summary.skipped += 1
      return report(file, "\(position): \(error)")
    }
    if case .item = record { summary.read += 1 }
    if let note = try await newsroom.add(record) { report(file, note) }
  }

  private func flush() async throws {
    // The later one of two entries with the same id is to win.
    let ids = Set(batch.items.flatMap { [$0.id, $0.origin ?? $0.id, $0.linkID ?? $0.id, $0.earlierID ?? $0.id] })
    let isApart = writing.allSatisfy { $0.ids.isDisjoint(with: ids) }
    try await finishWriting(leaving: isApart ? Self.width - 1 : 0)
    let existing = batch.hasNewNames ? try await store.topicTitles().bySlug : [:]
    try await store.ensureTopics(batch.takeTopics(beside: existing))
    let items = batch.takeItems()
    guard !items.isEmpty else { return }
    writing.append((ids, Task { [store] in try await store.importItems(items) }))
  }

  /// Waits until at most `count` chunks are being written; after an error for all of them.
  private func finishWriting(leaving count: Int = 0) async throws {
    var failure: (any Error)?
    while writing.count > (failure == nil ? count : 0) {
      let counts = writing.removeFirst().counts
      do {
        summary += try await counts.value
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    progress.update(entries: summary.read)
  }

  private func report(_ file: ImportFile, _ message: String) {
    progress.clear()
    StandardStreams.printDiagnostic("\(file.name.terminalSafe): \(message.terminalSafe)")
  }
}
