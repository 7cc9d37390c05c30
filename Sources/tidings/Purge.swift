import ArgumentParser
import News
import NewsAPI
import NewsStore

struct Purge: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Purges the records of old removals, and removes files that no item uses.",
    discussion: """
      A client that was offline for longer than the given age requests the snapshot. Files are removed from \
      TIDINGS_MEDIA_DIRECTORY, if it is set.

      A running server does both once an hour, with the ages in TIDINGS_PURGE_AFTER and TIDINGS_MEDIA_UNUSED_AFTER.
      """)

  @OptionGroup var common: CommonOptions

  @Option(help: "The minimum age of removals, in days, hours, minutes or seconds: 90d, 12h, 30m, 0s.")
  var olderThan: Age

  @Option(help: "The minimum time for which a file has not been used. (default: TIDINGS_MEDIA_UNUSED_AFTER)")
  var mediaUnusedFor: Age?

  func run() async throws {
    try await reporting {
      let (settings, logger) = try common.load()
      try await settings.withStore(logger) { store in
        let purged = try await store.purge(olderThan: olderThan.duration)
        try StandardStreams.printResult("\(counted(purged, "removal")) purged")
        guard let library = try settings.mediaLibrary(over: store) else { return }
        let age = mediaUnusedFor?.duration ?? .seconds(settings.mediaUnusedAfter * 86_400)
        let removed = try await library.collect(unusedFor: age)
        try StandardStreams.printResult("\(counted(removed, "unused file")) removed")
      }
    }
  }

  private func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  /// A duration as a whole number with a unit.
  struct Age: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
      let units: [Character: Int] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
      guard let unit = argument.last.flatMap({ units[$0] }), argument.dropLast().utf8.allSatisfy(\.isASCIIDigit),
        let count = Int(argument.dropLast()), count <= 1_000_000
      else { return nil }
      duration = .seconds(count * unit)
    }
  }
}
