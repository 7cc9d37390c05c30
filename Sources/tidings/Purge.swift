import ArgumentParser
import NewsStore

struct Purge: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Forgets old removals; clients that have been away for longer take the snapshot.",
    discussion: "A running server does it by itself, once an hour, for what is older than TIDINGS_PURGE_AFTER.")

  @OptionGroup var common: CommonOptions

  @Option(help: "The age in days, hours, minutes or seconds: 90d, 12h, 30m, 0s.")
  var olderThan: Age

  func run() async throws {
    try await common.withStore { store, _ in
      print("\(try await store.purge(olderThan: olderThan.duration)) removals forgotten")
    }
  }

  /// A whole number with a unit.
  struct Age: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
      let units: [Character: Int] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
      guard let unit = argument.last.flatMap({ units[$0] }), argument.dropLast().utf8.allSatisfy({ 48...57 ~= $0 }),
        let count = Int(argument.dropLast()), count <= 1_000_000
      else { return nil }
      duration = .seconds(count * unit)
    }
  }
}
