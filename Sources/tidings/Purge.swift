import ArgumentParser
import Logging
import News
import NewsAPI
import NewsStore

struct Purge: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Purges the records of old removals and old revisions, and removes files that no item uses.",
    discussion: """
      A client that was offline for longer than the given age requests the snapshot. Revisions are removed from the history \
      of items if TIDINGS_HISTORY_KEEP is set. Files are removed from \
      TIDINGS_MEDIA_DIRECTORY, if it is set and belongs to the database. Files that the database does not know are never \
      removed; `tidings media check` lists them.

      A running server does all of it once an hour, with the ages in TIDINGS_PURGE_AFTER and TIDINGS_MEDIA_UNUSED_AFTER.
      """)

  @OptionGroup var common: CommonOptions

  @Option(help: "The minimum age of removals, in weeks, days, hours, minutes or seconds: 90d, 12h, 30m, 0s.")
  var olderThan: TimeSpan

  @Option(help: "The minimum time for which a file has not been used. (default: TIDINGS_MEDIA_UNUSED_AFTER)")
  var mediaUnusedFor: TimeSpan?

  func run() async throws {
    try await common.withStore { store, settings in
      let purged = try await store.purge(olderThan: olderThan.duration)
      try StandardStreams.printResult("\(counted(purged, "removal")) purged")
      if let retention = settings.historyKeep {
        let swept = try await store.sweepHistory(keeping: retention)
        try StandardStreams.printResult("\(counted(swept, "revision")) removed from the history")
      }
      guard let library = try settings.mediaLibrary(over: store) else { return }
      let age = mediaUnusedFor?.duration ?? .seconds(settings.mediaUnusedAfter * 86_400)
      let removed = try await library.collect(unusedFor: age, logger: Logger(label: "tidings"))
      try StandardStreams.printResult("\(counted(removed.files, "unused file")) removed")
      if removed.uploads > 0 {
        try StandardStreams.printResult("\(counted(removed.uploads, "abandoned upload")) removed")
      }
    }
  }
}
