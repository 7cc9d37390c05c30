import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Folders of files that meet the wrong database, and databases that meet the wrong folder.
@Suite struct MediaLibraryTests {
  private static let all = FileArchive.digests(FileArchive.used + FileArchive.unused)

  private static func withDatabase(
    template: String? = nil, _ body: @Sendable (Installation) async throws -> Void
  ) async throws {
    try await withTestDatabase(template: template) { url in
      try await Installation.with(url: url) { installation in
        if template == nil { #expect(try await installation.run("migrate").status == 0) }
        try await body(installation)
      }
    }
  }

  @Test("A server with an empty database leaves the files of another one alone")
  func emptyDatabase() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let archive = try await FileArchive(installation, folder)
        try await Self.withDatabase { staging in
          try await FileArchive.expectUntouched(staging, folder, remedy: "tidings media adopt")
          let shown = try await staging.run("media", "adopt", changes: archive.changes)
          #expect(shown.status == 0 && shown.output.contains("The database has 0 files;"), "\(shown)")
          // Without files, nothing speaks against the folder.
          #expect(!shown.output.contains("Warning"), "\(shown)")
        }
        #expect(try names(in: folder) == Self.all)
        // The database that has the folder removes what nobody uses.
        let purge = try await FileArchive.purge(archive.installation, folder)
        #expect(purge.output == "0 removals purged\n2 unused files removed\n", "\(purge.errors)")
        #expect(try names(in: folder) == FileArchive.digests(FileArchive.used))
      }
    }
  }

  @Test("A database that has imported a plain export leaves the files of its source alone")
  func importedDatabase() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        _ = try await FileArchive(installation, folder)
        try await withFolder([:]) { files in
          let file = files.appending(path: "news.jsonl").path
          #expect(try await installation.run("export", file).status == 0)
          try await Self.withDatabase { other in
            #expect(try await other.run("import", file).status == 0)
            try await FileArchive.expectUntouched(other, folder, remedy: "tidings media adopt")
          }
        }
      }
    }
  }

  @Test("A clone takes down nothing in the folder of its original, until an operator gives it the folder")
  func clone() async throws {
    try await withMediaFolder { folder in
      try await NewsDatabase.with { url in
        let archive = try await Installation.with(url: url) { try await FileArchive($0, folder) }
        let name = try #require(URLComponents(string: url)?.path.dropFirst())
        try await Self.withDatabase(template: String(name)) { clone in
          try await FileArchive.expectUntouched(clone, folder, remedy: "tidings media adopt")
          try await clone.serve(changes: archive.changes) { server in
            try await FileArchive.erase(archive.items[0], archive.key, server)
            #expect(try await server.status(archive.paths[0]) == 410)
            #expect(try await server.status(archive.paths[1]) == 200)
          }
          #expect(try names(in: folder) == Self.all)

          let shown = try await clone.run("media", "adopt", changes: archive.changes)
          #expect(shown.status == 0, "\(shown.errors)")
          #expect(shown.output.contains("1 file that the database has taken down would be removed."), "\(shown.output)")
          #expect(shown.output.contains("Nothing was changed.") && !shown.output.contains("Warning"))
          try await FileArchive.expectUntouched(clone, folder, remedy: "tidings media adopt")
          // The original works as before.
          try await Installation.with(url: url) { original in
            try await original.serve(changes: archive.changes) { server in
              _ = try await FileArchive.stored(FileArchive.late, archive.key, server)
            }
            #expect(try await original.run("media", "check", changes: archive.changes).status == 0)
          }

          #expect(try await clone.run("media", "adopt", "--yes", changes: archive.changes).status == 0)
          let again = try await clone.run("media", "adopt", "--yes", changes: archive.changes)
          #expect(again.output.hasSuffix("\nNothing to do: the folder belongs to this database.\n"), "\(again)")
          let purge = try await FileArchive.purge(clone, folder)
          #expect(purge.output.contains("3 unused files removed"), "\(purge)")
          let rest = FileArchive.digests(Array(FileArchive.used[1...]) + [FileArchive.late])
          #expect(try names(in: folder) == rest)
          try await Installation.with(url: url) { original in
            try await FileArchive.expectUntouched(original, folder, remedy: "tidings media adopt")
          }
        }
      }
    }
  }

  @Test("A missing folder is not created anew, and an empty one in its place is not used")
  func unmounted() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let archive = try await FileArchive(installation, folder)
        let elsewhere = folder.appendingPathExtension("elsewhere")
        defer { try? FileManager.default.removeItem(at: elsewhere) }
        try await installation.serve(changes: archive.changes) { server in
          try FileManager.default.moveItem(at: folder, to: elsewhere)
          let refused = try await FileArchive.upload(FileArchive.late, archive.key, server)
          #expect(refused.status == 503 && refused.text.contains("does not exist"), "\(refused.text)")
          #expect(try await server.status("/readyz") == 200)
          #expect(!FileManager.default.fileExists(atPath: folder.path))
        }
        try await FileArchive.expectUntouched(installation, folder, remedy: "mount its file system")
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        #expect(try await installation.run("media", "adopt", "--yes", changes: archive.changes).status == 1)

        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await FileArchive.expectUntouched(installation, folder, remedy: "mount its file system")
        let shown = try await installation.run("media", "adopt", changes: archive.changes)
        #expect(shown.status == 0)
        #expect(shown.output.contains("The database has 8 files; 8 of them are missing"), "\(shown.output)")
        #expect(shown.output.contains("Warning: this is probably not the folder of this database."))
        #expect(!shown.output.contains("taken down"))
        let plain = try await installation.run("media", "check", changes: archive.changes)
        #expect(plain.status == 1 && plain.output.contains("library\tthe folder for files is not known"), "\(plain)")
        let check = try await installation.run("media", "check", "--json", changes: archive.changes)
        #expect(check.status == 1)
        let report = try JSONDecoder().decode(Report.self, from: Data(check.output.utf8))
        #expect((report.library, report.rows, report.files) == ("unlabelled", 8, 0))
        #expect(report.rowsWithoutFile.map(\.sha256).sorted() == Self.all)

        try FileManager.default.removeItem(at: folder)
        try FileManager.default.moveItem(at: elsewhere, to: folder)
        try await installation.serve(changes: archive.changes) { server in
          _ = try await FileArchive.stored(FileArchive.late, archive.key, server)
          #expect(try await server.status(archive.paths[0]) == 200)
        }
        #expect(try await installation.run("media", "check", changes: archive.changes).status == 0)
      }
    }
  }

  private struct Report: Decodable {
    struct Missing: Decodable {
      var sha256: String
    }
    var library: String
    var rows: Int
    var files: Int
    var rowsWithoutFile: [Missing]
    var filesWithoutRow: [String]
  }

  @Test("After an upgrade, the first start adopts the folder that has the files, and no other one")
  func upgrade() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let archive = try await FileArchive(installation, folder)
        _ = try await installation.sql.query("DELETE FROM media_library")
        try FileManager.default.removeItem(at: folder.appending(path: "library.json"))
        try await withFolder([:]) { empty in
          try await FileArchive.expectUntouched(installation, empty, remedy: "tidings media adopt")
        }
        // A database without files does not adopt a folder that has some.
        try await Self.withDatabase { staging in
          try await FileArchive.expectUntouched(staging, folder, remedy: "tidings media adopt")
        }
        try await installation.serve(changes: archive.changes) { server in
          _ = try await FileArchive.stored(FileArchive.late, archive.key, server)
        }
        #expect(try await installation.run("media", "check", changes: archive.changes).status == 0)
      }
    }
  }

  @Test("doctor and check find files that are missing")
  func missing() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let archive = try await FileArchive(installation, folder)
        // Further addresses with the content of the first file.
        _ = try await installation.sql.query(
          """
          INSERT INTO media (id, sha256, type, bytes)
          SELECT gen_random_uuid(), m.sha256, t.type, m.bytes
          FROM media AS m, unnest(ARRAY['audio/mp4', 'video/mp4']) AS t (type)
          WHERE encode(m.sha256, 'hex') = \(FileArchive.used[0].sha256)
          """)
        #expect(try await installation.run("media", "check", changes: archive.changes).status == 0)
        for command in ["adopt", "check"] {
          let refused = try await installation.run("media", command, changes: ["TIDINGS_MEDIA_DIRECTORY": ""])
          #expect(refused.status == 78 && refused.errors.contains("TIDINGS_MEDIA_DIRECTORY"), "\(refused)")
        }
        let lost = FileArchive.used[2].sha256
        try FileManager.default.removeItem(at: folder.appending(path: lost))
        let doctor = try await installation.run("doctor", changes: archive.changes)
        #expect(doctor.status == 1)
        #expect(doctor.output.contains(/problem +media +1 of 10 files/), "\(doctor.output)")
        let check = try await installation.run("media", "check", changes: archive.changes)
        #expect(check.status == 1 && check.output.contains("\t\(lost)\t"), "\(check)")
        #expect(check.output.contains("10 rows, 1 without a file; 7 files, 0 without a row"), "\(check.output)")
        // Files and parts of another database, which stay.
        let part = UUID().uuidString.lowercased()
        for name in ["part-\(part)", Data("unknown".utf8).sha256] {
          try Data("unknown".utf8).write(to: folder.appending(path: name))
        }
        let others = try await installation.run("media", "check", changes: archive.changes)
        #expect(others.status == 1 && others.output.contains("part\t\(part)\n"), "\(others)")
        #expect(others.output.contains("8 files, 1 without a row; 1 part without a row"), "\(others)")
        let adopt = try await installation.run("media", "adopt", "--yes", changes: archive.changes)
        #expect(adopt.status == 0 && adopt.output.contains("Nothing to do: the folder belongs to this database."))
        #expect(adopt.output.contains("The folder has 8 files; the database knows 7 of them"), "\(adopt.output)")
        #expect(!adopt.output.contains("Warning") && !adopt.output.contains("was adopted"))
      }
    }
  }

  @Test("After `epoch new` on a copy of the database's files, the folder of the original is left alone")
  func physicalCopy() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        _ = try await FileArchive(installation, folder)
        let epoch = try await installation.run("epoch", "new")
        #expect(epoch.status == 0 && epoch.errors.contains("tidings media adopt"))
        try await FileArchive.expectUntouched(installation, folder, remedy: "tidings media adopt")
        #expect(try names(in: folder) == Self.all)
      }
    }
  }
}
