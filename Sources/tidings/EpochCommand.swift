import ArgumentParser
import News
import NewsStore

struct EpochCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "epoch", abstract: "Lists the epochs of the database, or begins a new one.",
    discussion: """
      An epoch is one history of the feed. Each token belongs to an epoch. A new epoch begins automatically after a \
      point-in-time restore, after the promotion of a standby, and in a database that was restored from a dump. A token \
      of an earlier epoch stays valid up to the version at which the histories diverge.

      The server cannot detect a copy of a whole machine or of the database's files. Run `tidings epoch new` on such a \
      copy before it serves requests.
      """,
    subcommands: [Show.self, New.self])

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists the epochs, newest first.",
      discussion: """
        Each line has four columns, separated by tabs, or aligned below headings on a terminal: the id, the date, the version \
        after which the epoch starts, and whether it continues the epoch on the next line.
        """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
      try await common.withStore { store, _ in
        let rows = try await store.epochs().map { epoch in
          let origin = epoch.isContinuation ? "continues" : "begins anew"
          return [epoch.id, RFC3339.string(from: epoch.created), "\(epoch.startsAfter)", origin]
        }
        try StandardStreams.printList(["ID", "CREATED", "STARTS AFTER", "ORIGIN"], rows)
      }
    }
  }

  struct New: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Begins a new epoch and prints its id.",
      discussion: """
        All earlier tokens become invalid, so every client requests the snapshot. Uploads are refused, and no file is \
        removed, until `tidings media adopt` gives the folder for files to the database: a copy must not remove the \
        files of its original.
        """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
      try await common.withStore { store, _ in
        try StandardStreams.printResult(try await store.cutEpoch())
        guard try await store.mediaLibrary().adopted != nil else { return }
        StandardStreams.printDiagnostic(
          "tidings: uploads are refused and no file is removed until `tidings media adopt` was run")
      }
    }
  }
}
