import ArgumentParser
import NewsStore

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Exports all published items as JSON Lines.",
    discussion: """
      The export is a snapshot of the published items, oldest first. Importing it into an empty database produces the \
      same feed, including the ids, dates, topics and sources of the items. Importing it into another database does not \
      change the items there. Drafts, retracted items and keys are not exported.

      The file is called FILE.partial until it is complete.
      """)

  @OptionGroup var common: CommonOptions

  @Argument(help: "The file to write, or - for standard output.")
  var file = "-"

  func run() async throws {
    try await common.withStore { store, _ in
      let exporter = Exporter(to: try ExportFile(file))
      do {
        try await store.export { try await exporter.write($0, of: $1) }
        StandardStreams.printDiagnostic("exported \(try await exporter.finish()) items")
      } catch {
        await exporter.discard()
        throw error
      }
    }
  }
}
