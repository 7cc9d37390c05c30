import ArgumentParser
import Foundation
import News
import NewsStore

struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Imports news from feeds and files.",
    discussion: """
      Reads RSS, Atom, JSON Feed and JSON Lines, told apart by their content. Doing so again applies only what has
      changed at its source since: the work of editors stays, and what was retracted stays retracted. What cannot be
      imported is reported on standard error with its place, and the rest is imported.
      """)

  @OptionGroup var common: CommonOptions

  @Flag(help: "Print the counts as JSON.")
  var json = false

  @Argument(help: "A file, a directory of files, or - for standard input.")
  var path: String

  func run() async throws {
    try await common.withStore { store, _ in
      let files = try ImportFile.all(at: path)
      let progress = TransferProgress(total: files.totalBytes)
      let importer = Importer(store: store, progress: progress)
      var failed = false
      for file in files.files where try await !importer.run(file) { failed = true }
      progress.finish()
      print(try importer.summary.line(asJSON: json))
      // In a directory other things may lie about; a file that was named is meant to be a feed.
      if failed, !files.isDirectory { throw ExitCode.failure }
    }
  }
}

/// What an import came to.
struct ImportSummary: Codable {
  /// Entries found.
  var read = 0
  var inserted = 0
  var updated = 0
  var unchanged = 0
  /// Entries that were faulty, retracted here, or not ours to change.
  var skipped = 0

  static func += (summary: inout ImportSummary, counts: ImportCounts) {
    summary.inserted += counts.inserted
    summary.updated += counts.updated
    summary.unchanged += counts.unchanged
    summary.skipped += counts.skipped
  }

  func line(asJSON: Bool) throws -> String {
    if asJSON { return String(decoding: try NewsJSON.encode(self), as: UTF8.self) }
    return "read \(read), inserted \(inserted), updated \(updated), unchanged \(unchanged), skipped \(skipped)"
  }
}

/// A source of bytes for an import.
struct ImportFile {
  /// What it is called in reports.
  let name: String
  let handle: () throws(Unreadable) -> FileHandle

  /// The system refuses to open it, or to read on.
  struct Unreadable: Error {}

  struct Listing {
    var files: [ImportFile]
    var isDirectory = false
    /// nil where it cannot be known beforehand.
    var totalBytes: Int?
  }

  /// The files that a path stands for: those in a directory are read by name, hidden ones are not read.
  static func all(at path: String) throws -> Listing {
    if path == "-" {
      return Listing(files: [ImportFile(name: "standard input") { .standardInput }])
    }
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw ImportError(description: "there is no file \(path)")
    }
    guard isDirectory.boolValue else {
      return Listing(files: [file(path)], totalBytes: size(path))
    }
    let paths = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
      .filter { !$0.split(separator: "/").contains { $0.hasPrefix(".") } }
      .map { path + "/" + $0 }
      .filter { size($0) != nil }
    return Listing(
      files: paths.map(file), isDirectory: true, totalBytes: paths.compactMap(size).reduce(0, +))
  }

  private static func file(_ path: String) -> ImportFile {
    ImportFile(name: path) { () throws(Unreadable) in
      guard let handle = FileHandle(forReadingAtPath: path) else { throw Unreadable() }
      return handle
    }
  }

  /// The length of a regular file, nil for anything else.
  private static func size(_ path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
    return (attributes?[.size] as? NSNumber)?.intValue
  }
}

/// Why an import cannot begin.
struct ImportError: Error, CustomStringConvertible {
  let description: String
}
