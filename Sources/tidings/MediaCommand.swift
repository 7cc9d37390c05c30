import ArgumentParser
import Foundation
import News
import NewsAPI
import NewsStore

struct MediaCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "media", abstract: "Compares the folder for files with the database, or adopts it.",
    discussion: """
      The folder and the database each name the library of files. If the names differ, as in a restored dump, in a copy of \
      the database or with the wrong folder, the server refuses uploads and removes no file. Readers still get the files.
      """,
    subcommands: [Adopt.self, Check.self])

  struct Adopt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows the folder and the database, and with --yes gives the folder to the database.",
      discussion: """
        Run it after a restore of a dump, and for the folder of a copy. Databases that had the folder before accept and \
        remove no more files there. No file is changed. Servers notice the adoption at their next upload.

        The exit status is 1 if the folder cannot be adopted.
        """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Adopt the folder. Without this option, nothing is changed.")
    var yes = false

    func run() async throws {
      try await common.withLibrary { library, folder in
        let report = try await library.report()
        for line in Self.lines(report, folder) { try StandardStreams.printResult(line) }
        if report.library == .adopted {
          try StandardStreams.printResult("Nothing to do: the folder belongs to this database.")
        } else if yes {
          try await library.adopt()
          try StandardStreams.printResult("The folder was adopted: files are accepted and removed again.")
        } else {
          try StandardStreams.printResult("Nothing was changed. `tidings media adopt --yes` adopts the folder.")
        }
      }
    }

    private static func lines(_ report: MediaReport, _ folder: String) -> [String] {
      let missing = report.rowsWithoutFile.count
      let rest = report.files - report.filesWithoutRow.count
      var lines = [
        "\(folder): \(report.library.explanation).",
        "The database has \(counted(report.rows, "file")); \(missing) of them are missing in the folder.",
        "The folder has \(counted(report.files, "file")); the database knows \(rest) of them, and the others stay.",
      ]
      if report.due > 0 {
        lines.append("\(counted(report.due, "file")) that the database has taken down would be removed.")
      }
      if report.rows > 0, missing == report.rows {
        lines.append("Warning: this is probably not the folder of this database.")
      }
      return lines
    }
  }

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists files that the folder lacks, and files that the database does not know.",
      discussion: """
        Each line begins with `missing` (the id, the name in the folder, the bytes and the file name), `unknown` (the name \
        in the folder), or `part` (the id of an upload), separated by tabs, or aligned below headings on a terminal. Unknown files and parts may belong to another \
        database, or are left from before a restore. They are never removed by the server. The last line has the numbers.

        The exit status is 0 if the folder belongs to the database and both agree, and 1 otherwise.
        """)

    @OptionGroup var common: CommonOptions

    @Flag(
      help: """
        Print a JSON object with library, rows, files, due, rowsWithoutFile, filesWithoutRow and partsWithoutRow.
        """)
    var json = false

    func run() async throws {
      try await common.withLibrary { library, _ in
        let report = try await library.report()
        if json {
          try StandardStreams.printResult(try StandardStreams.json(report).terminalSafeJSON)
        } else {
          let rows = Self.rows(report)
          if !rows.isEmpty { try StandardStreams.printList(["FINDING", "ID OR FILE", "FILE", "BYTES", "NAME"], rows) }
          try StandardStreams.printResult(Self.numbers(report))
        }
        if !report.isConsistent { throw FailureCode.failed }
      }
    }

    private static func rows(_ report: MediaReport) -> [[String]] {
      let missing = report.rowsWithoutFile.map { file in
        ["missing", file.id.uuidString.lowercased(), file.sha256, "\(file.bytes)", file.name?.terminalSafe ?? ""]
      }
      let unknown = report.filesWithoutRow.map { ["unknown", $0] }
      let parts = report.partsWithoutRow.map { ["part", $0.uuidString.lowercased()] }
      let state = [.adopted, .new].contains(report.library) ? [] : [["library", report.library.explanation]]
      return missing + unknown + parts + state
    }

    private static func numbers(_ report: MediaReport) -> String {
      """
      \(counted(report.rows, "row")), \(report.rowsWithoutFile.count) without a file; \
      \(counted(report.files, "file")), \(report.filesWithoutRow.count) without a row; \
      \(counted(report.partsWithoutRow.count, "part")) without a row
      """
    }
  }
}

extension CommonOptions {
  /// Runs the body with the library of files and the path of its folder.
  fileprivate func withLibrary(_ body: (MediaLibrary, _ folder: String) async throws -> Void) async throws {
    try await withStore { store, settings in
      guard let library = try settings.mediaLibrary(over: store) else {
        throw SettingError(name: SettingTable.shared.mediaDirectory.name, rule: "must name the folder for files")
      }
      try await body(library, settings.mediaDirectory)
    }
  }
}

/// Returns a number with a noun in the right form.
func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
