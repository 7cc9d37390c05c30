import ArgumentParser
import Foundation
import News
import NewsStore

struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Imports news from feeds and files.",
    discussion: """
      Reads RSS, Atom, JSON Feed and JSON Lines, and detects the format from the content. An import can be repeated: it \
      applies only entries that have changed at their source since the last import, so edits of other items are kept. \
      It never restores a retracted item.

      An export that was made with --all restores a newsroom: the items in their states, with their schedules and \
      revisions, topics, subscriptions, the metadata of files, and the history if the export has it. Items that exist are \
      left unchanged. Schedules apply at once, so that an item whose time has passed is published. Copy the media folder \
      before the import. Keys are not part of an export.

      Exports of WordPress, Blogger and other systems contain drafts, private and protected posts, pages and files. Only \
      public posts are imported; the others are skipped and counted by kind.

      An entry without a date is skipped. With --missing-date now, it takes the time at which it was first imported, \
      and keeps it in later imports.

      Entries that cannot be imported are reported on standard error with their position; all others are imported. \
      The exit status is 1 if a file cannot be read, or if PATH is a file that is not a feed or is malformed. Malformed \
      files and other files in a folder are only reported.
      """)

  @OptionGroup var common: CommonOptions

  @Option(help: "What an entry without a date gets: skip leaves it out, now gives it the time of its first import.")
  var missingDate = MissingDateOption.skip

  @Flag(help: "Print the counts as JSON.")
  var json = false

  @Argument(help: "A file, a folder of files, or - for standard input.")
  var path: String

  func run() async throws {
    var importer: Importer?
    do {
      let (settings, logger) = try common.load()
      try await settings.withStore(logger) { store in
        let files = try ImportFile.all(at: path)
        let progress = TransferProgress(total: files.totalBytes)
        let current = Importer(store: store, progress: progress, missingDate: missingDate)
        importer = current
        defer { progress.clear() }
        for file in files.files {
          let outcome = try await current.run(file)
          // A folder may contain other files, but a file that the user names is expected to be a feed.
          if outcome == .unreadable || outcome == .broken && !files.isDirectory { current.noteFailure() }
        }
      }
    } catch {
      try await fail(error, importer?.total ?? ImportSummary())
    }
    try await reporting {
      let summary = importer?.total ?? ImportSummary()
      try StandardStreams.printResult(try summary.line(asJSON: json))
      if importer?.hasFailed == true { throw FailureCode.failed }
    }
  }

  /// Reports an import that cannot continue. Its work so far is kept.
  private func fail(_ error: any Error, _ summary: ImportSummary) async throws {
    let failure = Failure(error)
    try await reporting {
      failure.printDiagnostics()
      var summary = summary
      summary.error = failure.message
      if json || summary.read > 0 { try StandardStreams.printResult(try summary.line(asJSON: json)) }
      throw failure.code
    }
  }
}

/// The treatment of entries without a date.
enum MissingDateOption: String, CaseIterable, ExpressibleByArgument {
  case skip, now
}

/// The counts of an import.
struct ImportSummary: Codable {
  /// The entries found.
  var read = 0
  var inserted = 0
  var updated = 0
  var unchanged = 0
  /// The entries that were malformed, and the items that are retracted, expired or created here.
  var skipped = 0
  /// The skipped records that are not public posts, by kind; nil if there is none.
  var notPublic: [String: Int]?
  /// Files that the system refused to read.
  var unreadable = 0
  /// The reason why the import ended early; nil if it did not.
  var error: String?

  /// Counts a record that is not a public post.
  mutating func add(notPublic kind: String) {
    var kinds = notPublic ?? [:]
    kinds[kinds.count < Self.maximumKinds || kinds[kind] != nil ? kind : "other", default: 0] += 1
    notPublic = kinds
  }

  /// The maximum number of kinds that are counted separately, because files can name any.
  private static let maximumKinds = 32

  static func += (summary: inout ImportSummary, counts: ImportCounts) {
    summary.inserted += counts.inserted
    summary.updated += counts.updated
    summary.unchanged += counts.unchanged
    summary.skipped += counts.skipped
  }

  func line(asJSON: Bool) throws -> String {
    if asJSON { return String(decoding: try NewsJSON.encode(self), as: UTF8.self) }
    let kinds = (notPublic ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let counts =
      "read \(read), inserted \(inserted), updated \(updated), unchanged \(unchanged), skipped \(skipped)"
      + (kinds.isEmpty ? "" : " (not public: \(kinds.joined(separator: ", ")))")
    return unreadable == 0 ? counts : counts + ", unreadable files \(unreadable)"
  }
}
