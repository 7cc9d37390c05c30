import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Files after a database was restored or has failed over.
@Suite struct MediaRestoreTests {
  private static let all = FileArchive.digests(FileArchive.used + FileArchive.unused)

  /// Runs the body with a server of its own, and the URL of a migrated database on it.
  private static func withCluster(
    _ body: @Sendable (TestCluster, _ url: String, _ folder: URL) async throws -> Void
  ) async throws {
    try await withMediaFolder { folder in
      try await TestCluster.withCluster { cluster in
        try await TestDatabase.execute("CREATE DATABASE news", at: await cluster.url)
        let url = try await Self.url(cluster, "news")
        try await Installation.with(url: url) { installation in
          let migrated = try await installation.run("migrate")
          try #require(migrated.status == 0, "\(migrated.errors)")
        }
        try await body(cluster, url, folder)
      }
    }
  }

  private static func url(_ cluster: TestCluster, _ name: String) async throws -> String {
    var components = try #require(URLComponents(string: await cluster.url))
    components.path = "/\(name)"
    return try #require(components.string)
  }

  @Test("A restored dump removes no file before its folder is adopted, and none that is newer than the dump after that")
  func dump() async throws {
    try await Self.withCluster { cluster, url, folder in
      let archive = try await Installation.with(url: url) { try await FileArchive($0, folder) }
      try await cluster.copyDatabase("news", to: "restored")
      try await Installation.with(url: url) { original in
        try await original.serve(changes: archive.changes) { server in
          let path = try await FileArchive.stored(FileArchive.late, archive.key, server)
          _ = try await FileArchive.publish(path, archive.key, server)
        }
      }
      let everything = (Self.all + [FileArchive.late.sha256]).sorted()
      try await Installation.with(url: try await Self.url(cluster, "restored")) { restored in
        try await FileArchive.expectUntouched(restored, folder, remedy: "tidings media adopt")
        #expect(try names(in: folder) == everything)
        let adopted = try await restored.run("media", "adopt", "--yes", changes: archive.changes)
        #expect(adopted.status == 0, "\(adopted.errors)")
        try await restored.serve(changes: archive.changes) { server in
          _ = try await FileArchive.stored(FileArchive.further, archive.key, server)
        }
        // Items that used the files may be lost, so the time of their use begins anew.
        _ = try await restored.sql.query("UPDATE media SET used_at = used_at - interval '30 days'")
        let automatic = try await restored.run("purge", "--older-than", "1d", changes: archive.changes)
        #expect(automatic.output.hasSuffix("\n0 unused files removed\n"), "\(automatic)")
        let purge = try await FileArchive.purge(restored, folder)
        #expect(purge.output.hasSuffix("\n3 unused files removed\n"), "\(purge)")
        #expect(try names(in: folder) == FileArchive.digests(FileArchive.used + [FileArchive.late]))
        let check = try await restored.run("media", "check", changes: archive.changes)
        #expect(check.status == 1 && check.output.contains("unknown\t\(FileArchive.late.sha256)\n"), "\(check)")
      }
    }
  }

  @Test("A dump that is restored into its own database removes no file before its folder is adopted")
  func dumpInPlace() async throws {
    try await Self.withCluster { _, url, folder in
      _ = try await Installation.with(url: url) { try await FileArchive($0, folder) }
      try await withFolder([:]) { files in
        let dump = files.appending(path: "news.sql").path
        let script = """
          pg_dump --no-password --clean --if-exists --file="$1" "$0" &&
            psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --output=/dev/null --file="$1" "$0"
          """
        let result = try await ChildProcess(
          ["-c", script, url, dump], executable: "/bin/bash",
          environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        ).result()
        try #require(result.status == 0, "\(result.errors)")
      }
      try await Installation.with(url: url) { restored in
        try await FileArchive.expectUntouched(restored, folder, remedy: "tidings media adopt")
      }
      #expect(try names(in: folder) == Self.all)
    }
  }

  @Test("After a promotion, files are accepted and removed as before")
  func promotion() async throws {
    try await Self.withCluster { primary, url, folder in
      let archive = try await Installation.with(url: url) { try await FileArchive($0, folder) }
      let standby = try await TestCluster.reserve()
      try await withResource(standby, release: { try await $0.remove() }) { standby in
        try await standby.becomeStandby(of: primary)
        try await primary.kill()
        try await standby.promote()
        try await Installation.with(url: try await Self.url(standby, "news")) { promoted in
          try await promoted.serve(changes: archive.changes) { server in
            let path = try await FileArchive.stored(FileArchive.late, archive.key, server)
            _ = try await FileArchive.publish(path, archive.key, server)
            try await FileArchive.erase(archive.items[0], archive.key, server)
          }
          #expect(try await promoted.run("media", "check", changes: archive.changes).status == 0)
          let purge = try await FileArchive.purge(promoted, folder)
          #expect(purge.output.hasSuffix("\n2 unused files removed\n"), "\(purge)")
          #expect(
            try names(in: folder) == FileArchive.digests(Array(FileArchive.used[1...]) + [FileArchive.late]))
        }
      }
    }
  }

  @Test("After a point-in-time restore, files that were stored since stay, and unused ones are removed as before")
  func pointInTime() async throws {
    try await Self.withCluster { cluster, url, folder in
      let archive = try await Installation.with(url: url) { try await FileArchive($0, folder) }
      try await cluster.backup()
      try await TestDatabase.execute("SELECT pg_create_restore_point('before')", at: url)
      try await Installation.with(url: url) { original in
        try await original.serve(changes: archive.changes) { server in
          let path = try await FileArchive.stored(FileArchive.late, archive.key, server)
          _ = try await FileArchive.publish(path, archive.key, server)
          try await FileArchive.erase(archive.items[0], archive.key, server)
        }
      }
      try await cluster.restore(to: "before")
      try await Installation.with(url: try await Self.url(cluster, "news")) { restored in
        try await restored.serve(changes: archive.changes) { server in
          #expect(try await server.status(archive.paths[1]) == 200)
          _ = try await FileArchive.stored(FileArchive.further, archive.key, server)
          try await FileArchive.erase(archive.items[1], archive.key, server)
        }
        let purge = try await FileArchive.purge(restored, folder)
        #expect(purge.output.hasSuffix("\n3 unused files removed\n"), "\(purge)")
        #expect(
          try names(in: folder) == FileArchive.digests(Array(FileArchive.used[2...]) + [FileArchive.late]))
        // The file that was removed after the moment is missing, and the one that was stored since is unknown.
        let check = try await restored.run("media", "check", changes: archive.changes)
        #expect(check.status == 1)
        #expect(check.output.contains("\t\(FileArchive.used[0].sha256)\t"), "\(check.output)")
        #expect(check.output.contains("unknown\t\(FileArchive.late.sha256)\n"), "\(check.output)")
      }
    }
  }
}
