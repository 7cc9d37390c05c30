import ArgumentParser
import News
import NewsStore

struct EpochCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "epoch", abstract: "Shows the histories that tokens belong to, or cuts them off.",
    discussion: """
      After a restore, a promotion or in a copy a new epoch begins by itself, and tokens are good up to where the
      histories part. Only where that cannot be seen, as in a copy of the whole machine, is it to be said.
      """,
    subcommands: [Show.self, New.self])

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "Prints id, date, the version it starts after, and whether it continues the one below, in columns separated by tabs."
    )

    @OptionGroup var common: CommonOptions

    func run() async throws {
      try await common.withStore { store, _ in
        for epoch in try await store.epochs() {
          let origin = epoch.isContinuation ? "continues" : "begins anew"
          try StandardStreams.printResult(
            [epoch.id, RFC3339.string(from: epoch.created), "\(epoch.startsAfter)", origin].joined(separator: "\t"))
        }
      }
    }
  }

  struct New: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Begins a new epoch and prints its id: every client takes the snapshot.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
      try await common.withStore { store, _ in try StandardStreams.printResult(try await store.cutEpoch()) }
    }
  }
}
