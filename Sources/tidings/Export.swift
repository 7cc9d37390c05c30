import ArgumentParser
import NewsStore

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Exports the published items, or the whole newsroom, as JSON Lines.",
    discussion: """
      The export is a snapshot of the published items, oldest first. Importing it into an empty database produces the \
      same feed, including the ids, dates, topics and sources of the items. Importing it into another database does not \
      change the items there. Drafts, retracted items and keys are not exported.

      With --all, the export contains the newsroom: the items in all states with their schedules and revisions, topics, \
      subscriptions, and the metadata of files, whose bytes are in the media folder. With --history it also contains \
      every write of the history. `tidings import` restores all of it into an empty database. Erased items are exported \
      without texts. Keys are not exported, because their secrets are not stored.

      The file is called FILE.partial until it is complete.
      """)

  @OptionGroup var common: CommonOptions

  @Flag(help: "Export the whole newsroom, not only the items that readers see.")
  var all = false

  @Flag(help: "With --all, export the history of the items too.")
  var history = false

  @Argument(help: "The file to write, or - for standard output.")
  var file = "-"

  func validate() throws {
    if history, !all { throw ValidationError("--history requires --all.") }
  }

  func run() async throws {
    try await common.withStore { store, _ in
      let exporter = Exporter(to: try ExportFile(file))
      do {
        if all {
          let counts = try await store.exportNewsroom(history: history) { try await exporter.write($0) }
          _ = try await exporter.finish()
          StandardStreams.printDiagnostic(Self.summary(counts))
          return
        }
        try await store.export { try await exporter.write($0, of: $1) }
        StandardStreams.printDiagnostic("exported \(try await exporter.finish()) items")
      } catch {
        await exporter.discard()
        throw error
      }
    }
  }

  private static func summary(_ counts: NewsroomCounts) -> String {
    func number(_ kind: String) -> Int { counts.records[kind] ?? 0 }
    return "exported \(number("item")) items, \(number("topic")) topics, \(number("media")) files, "
      + "\(number("subscription")) subscriptions, \(number("history")) writes of the history"
  }
}
