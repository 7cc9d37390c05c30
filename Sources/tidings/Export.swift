import ArgumentParser
import NewsStore

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Writes all published news as JSON Lines.",
    discussion: """
      The items are those of one moment, the oldest first. Imported into an empty database they are the same feed: ids,
      dates, topics and where each item came from included. Items that the database has already are left as they are.
      Drafts, what was retracted, and keys are not exported. A file gets its name when it is whole; until then it is
      called FILE.partial.
      """)

  @OptionGroup var common: CommonOptions

  @Argument(help: "A file, or - for standard output.")
  var file = "-"

  func run() async throws {
    try await common.withStore { store, _ in
      let exporter = Exporter(to: try ExportFile(file))
      do {
        try await store.export { try await exporter.write($0, of: $1) }
        StandardStreams.complain("exported \(try await exporter.finish()) items")
      } catch {
        await exporter.discard()
        throw error
      }
    }
  }
}
