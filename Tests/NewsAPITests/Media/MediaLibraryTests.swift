import Foundation
import MediaFiles
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The rows that precede files, and the names by which a database and a folder know each other.
@Suite struct MediaLibraryTests {
  private static let photo = SampleMedia.png(bytes: 2000)
  private static let atOnce = Duration.seconds(-10)

  private struct Interruption: Error {}

  /// Stores a file without registering it, as a process that ends between the two.
  private static func interrupt(_ media: MediaServer, _ file: Data) async throws {
    let upload = try await media.storage.begin()
    try await upload.write(Array(file))
    let stored = try await upload.finish(.png)
    let row = Media(id: UUID(), digest: stored.digest.bytes, type: "image/png", bytes: stored.bytes)
    let isStored = try await media.storage.open(stored.digest) != nil
    await #expect(throws: Interruption.self) {
      _ = try await media.server.store.registerMedia(row, isStored: isStored) {
        try await upload.publish()
        throw Interruption()
      }
    }
  }

  private static func passTime(_ media: MediaServer) async throws {
    _ = try await media.server.sql.query("UPDATE media_removals SET due_at = due_at - interval '1 day'")
  }

  @Test("The file of an upload that ended before its registration is removed a day later")
  func interrupted() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(SampleMedia.png(seed: 2))
      try await Self.interrupt(media, Self.photo)
      #expect(try await media.library.report().isConsistent)
      #expect(try await media.library.collect(unusedFor: .seconds(3600)).files == 0)
      #expect(try names(in: media.folder).count == 2)
      try await Self.passTime(media)
      #expect(try await media.library.collect(unusedFor: .seconds(3600)) == MediaCollection(files: 1))
      #expect(try names(in: media.folder) == [SampleMedia.png(seed: 2).sha256])
    }
  }

  @Test("A registered file keeps no row for its removal")
  func registered() async throws {
    try await MediaServer.with { media in
      _ = try await media.library.collect(unusedFor: .seconds(3600))
      try await Self.interrupt(media, Self.photo)
      let path = try await media.stored(Self.photo)
      try await Self.passTime(media)
      #expect(try await media.library.collect(unusedFor: .seconds(3600)) == MediaCollection())
      #expect(try await media.preview(path).body == Self.photo)
      #expect(try await media.server.sql.query("SELECT 1 FROM media_removals").isEmpty)
    }
  }

  @Test("An interrupted upload with the content of a file without a row does not remove that file")
  func interruptedUnknown() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(SampleMedia.png(seed: 2))
      try Self.photo.write(to: media.folder.appending(path: Self.photo.sha256))
      try await Self.interrupt(media, Self.photo)
      try await Self.passTime(media)
      #expect(try await media.library.collect(unusedFor: Self.atOnce).files == 1)
      #expect(try names(in: media.folder) == [Self.photo.sha256])
    }
  }

  @Test("A file that was stored again after its removal in an earlier epoch is kept")
  func storedAgain() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let id = try #require(UUID(uuidString: String(path.suffix(36))))
      // As in a database that was restored to a moment between a removal and its execution.
      _ = try await media.server.sql.query("DELETE FROM media WHERE id = \(id)")
      _ = try await media.server.sql.query("UPDATE media_removals SET created_at = created_at - interval '1 hour'")
      _ = try await media.server.sql.query("SELECT begin_epoch()")
      #expect(try await media.library.collect(unusedFor: .seconds(3600)).files == 0)
      #expect(try names(in: media.folder) == [Self.photo.sha256])
    }
  }

  @Test("The time without a use begins anew with an epoch that continues another one, and with an adoption")
  func grace() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(Self.photo)
      let sql = media.server.sql
      _ = try await media.item(#""title": "y""#)
      _ = try await sql.query("SELECT begin_epoch()")
      _ = try await sql.query("UPDATE media SET used_at = used_at - interval '30 days'")
      #expect(try await media.library.collect(unusedFor: .seconds(86_400)).files == 0)
      _ = try await sql.query("UPDATE epochs SET created_at = created_at - interval '2 days'")
      _ = try await sql.query("UPDATE media_library SET adopted_at = clock_timestamp()")
      #expect(try await media.library.collect(unusedFor: .seconds(86_400)).files == 0)
      _ = try await sql.query("UPDATE media_library SET adopted_at = clock_timestamp() - interval '2 days'")
      #expect(try await media.library.collect(unusedFor: .seconds(86_400)).files == 1)
    }
  }

  @Test("A folder of another database accepts no file, and no part of one")
  func foreign() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(Self.photo)
      try await TestServer.with(settings: { $0.media = media.storage }) { other in
        let key = try await other.store.createKey(name: "photo", permissions: [.mediaWrite])
        let type = ("Content-Type", "image/png")
        let refused = try await other.send(
          "POST", "/v1/editorial/media", key: key, headers: [type], file: SampleMedia.png(seed: 2))
        let problem = try refused.json(Problem.self, status: 503)
        #expect(problem.type == "/problems/media-unavailable")
        #expect(problem.detail?.contains("tidings media adopt") == true)
        let library = MediaLibrary(store: other.store, storage: media.storage)
        await #expect(throws: MediaLibraryError(state: .foreign)) { try await library.collect(unusedFor: Self.atOnce) }
        #expect(try await library.state() == .foreign)
        try await library.adopt()
        #expect(try await library.state() == .adopted)
        #expect(try await media.library.state() == .foreign)
        #expect(try await library.collect(unusedFor: Self.atOnce) == MediaCollection())
      }
      #expect(try await media.upload(SampleMedia.png(seed: 3)).status == 503)
      #expect(try names(in: media.folder) == [Self.photo.sha256])
    }
  }

  @Test("Of two processes that adopt a new folder at the same time, both can use it", arguments: 1...3)
  func race(round: Int) async throws {
    try await MediaServer.with { media in
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for seed in 1...6 {
          group.addTask { try await media.upload(SampleMedia.png(seed: UInt64(seed))).status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == Array(repeating: 201, count: 6))
      #expect(try await media.library.state() == .adopted)
    }
  }
}
