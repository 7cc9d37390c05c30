import Foundation
import MediaFiles
import News
import NewsAPI
import NewsStore
import PostgresClient
import Synchronization
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
      #expect(try await media.library.report().due == 0)
      try await Self.passTime(media)
      #expect(try await media.library.report().due == 1)
      #expect(try await media.library.collect(unusedFor: .seconds(3600)) == MediaCollection(files: 1))
      #expect(try names(in: media.folder) == [SampleMedia.png(seed: 2).sha256])
    }
  }

  @Test("Files are collected a minute after the start, and every hour after that")
  func regularly() async throws {
    try await MediaServer.with { media in
      let pauses = Mutex<[Duration]>([])
      await media.library.collectRegularly(unusedFor: .seconds(3600), logger: NewsDatabase.logger) { pause in
        let count = pauses.withLock { pauses in
          pauses.append(pause)
          return pauses.count
        }
        #expect(try names(in: media.folder).isEmpty)
        if count > 2 { throw CancellationError() }
        try await Self.interrupt(media, Self.photo)
        try await Self.passTime(media)
      }
      #expect(pauses.withLock(\.self) == [.seconds(60), .seconds(3600), .seconds(3600)])
    }
  }

  @Test("A file that is removed while the report is made is not reported as missing")
  func removedMeanwhile() async throws {
    try await MediaServer.with { media in
      let file = try await media.stored(Self.photo).replacing("/v1/media/", with: "/v1/editorial/media/")
      let storage = ObservedStorage(storage: media.storage) {
        _ = try? await media.server.send("DELETE", file, key: media.key)
      }
      let report = try await MediaLibrary(store: media.server.store, storage: storage).report()
      #expect(report.files == 1 && report.rowsWithoutFile.isEmpty)
      #expect(try names(in: media.folder).isEmpty)
    }
  }

  @Test("A file that is removed while it is requested is not found, instead of lost")
  func removedBeforeOpening() async throws {
    try await MediaServer.with { media in
      let file = try await media.stored(Self.photo).replacing("/v1/media/", with: "/v1/editorial/media/")
      let storage = ObservedStorage(storage: media.storage) {
        _ = try? await media.server.send("DELETE", file, key: media.key)
      }
      let status = try await media.server.beside({ $0.media = storage }) { server in
        try await server.send("GET", file, key: media.key).status
      }
      #expect(status == 404)
      #expect(try names(in: media.folder).isEmpty)
    }
  }

  @Test("A registered file keeps no row for its removal")
  func registered() async throws {
    try await MediaServer.with { media in
      _ = try await media.library.collect(unusedFor: .seconds(3600))
      try await Self.interrupt(media, Self.photo)
      let path = try await media.stored(Self.photo)
      try await Self.passTime(media)
      let log = RecordingLog()
      let collection = try await media.library.collect(unusedFor: .seconds(3600), logger: log.logger)
      #expect(collection == MediaCollection() && log.text.isEmpty, "\(log.text)")
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

  @Test("An upload that cannot be registered does not remove the file with its content that was there before")
  func refusedUnknown() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(SampleMedia.png(seed: 2))
      try Self.photo.write(to: media.folder.appending(path: Self.photo.sha256))
      _ = try await media.server.sql.query("ALTER TABLE media ADD CONSTRAINT none CHECK (false) NOT VALID")
      #expect(try await media.upload(Self.photo).status >= 500)
      _ = try await media.server.sql.query("ALTER TABLE media DROP CONSTRAINT none")
      try await Self.passTime(media)
      _ = try await media.library.collect(unusedFor: .seconds(3600))
      #expect(try names(in: media.folder).contains(Self.photo.sha256))
    }
  }

  @Test("A file that was stored again after its removal in an earlier epoch is kept")
  func storedAgain() async throws {
    try await MediaServer.with { media in
      let path = try await media.stored(Self.photo)
      let id = try #require(UUID(uuidString: String(path.suffix(36))))
      // An earlier restore makes no difference.
      _ = try await media.server.sql.query("SELECT begin_epoch()")
      _ = try await media.server.sql.query("UPDATE epochs SET created_at = created_at - interval '2 hours'")
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
        #expect(problem.type == "/problems/media-unavailable" && refused["Retry-After"] == "60")
        #expect(problem.detail?.contains("tidings media adopt") == true)
        let library = MediaLibrary(store: other.store, storage: media.storage)
        await #expect(throws: MediaLibraryError(state: .foreign)) { try await library.collect(unusedFor: Self.atOnce) }
        #expect(try await library.state() == .foreign)
        try await library.adopt()
        #expect(try await library.state() == .adopted)
        // A repeat changes nothing.
        let label = try await media.storage.label()
        try await library.adopt()
        #expect(try await media.storage.label() == label)
        #expect(try await media.library.state() == .foreign)
        #expect(try await library.collect(unusedFor: Self.atOnce) == MediaCollection())
      }
      #expect(try await media.upload(SampleMedia.png(seed: 3)).status == 503)
      #expect(try await media.begin().status == 503)
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

  @Test("An upload waits for an adoption that is under way")
  func adoptionUnderWay() async throws {
    try await MediaServer.with { media in
      let (labelled, isLabelled) = AsyncStream.makeStream(of: Void.self)
      let (release, isReleased) = AsyncStream.makeStream(of: Void.self)
      defer { isReleased.finish() }
      let isOver = Flag()
      let adopting = Task {
        try await media.server.store.adoptMedia(replacing: nil, asOperator: false) { name in
          try await media.storage.setLabel(try JSONEncoder().encode(name))
          isLabelled.finish()
          for await _ in release {}
        }
      }
      for await _ in labelled {}
      let uploading = Task {
        defer { isOver.set() }
        return try await media.upload(Self.photo).status
      }
      try await eventually("the upload waits") {
        let waiting: PostgresQuery = """
          SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          """
        return try await media.server.sql.query(waiting).first?.decode(0, as: Int.self) == 1 || isOver.isSet
      }
      isReleased.finish()
      #expect(try await adopting.value)
      #expect(try await uploading.value == 201)
    }
  }

  @Test("A label that another database has written meanwhile is not replaced")
  func labelledMeanwhile() async throws {
    try await MediaServer.with { media in
      _ = try await media.library.collect(unusedFor: .seconds(3600))
      try await TestServer.with(settings: { $0.media = LateLabel(base: media.storage) }) { other in
        let key = try await other.store.createKey(name: "photo", permissions: [.mediaWrite])
        let refused = try await other.send(
          "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")], file: Self.photo)
        #expect(refused.status == 503)
      }
      #expect(try await media.library.state() == .adopted)
    }
  }

  @Test("A file that cannot be removed is due again an hour later")
  func failing() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(Self.photo)
      _ = try await media.stored(SampleMedia.png(seed: 2))
      // A folder cannot be removed like a file.
      let file = media.folder.appending(path: Self.photo.sha256)
      try FileManager.default.removeItem(at: file)
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
      // It does not keep the other file.
      let log = RecordingLog()
      let collection = try await media.library.collect(unusedFor: Self.atOnce, logger: log.logger)
      #expect(collection == MediaCollection(unregistered: 2, files: 1))
      let lines = log.text.split(separator: "\n")
      #expect(lines.count { $0.hasPrefix("warning files were not removed") } == 1)
      let line = try #require(lines.first { $0.hasPrefix("info files removed") })
      for words in [#""files": 1"#, #""unused": 2"#, #""uploads": 0"#] { #expect(line.contains(words), "\(line)") }
      #expect(try await media.server.store.mediaCounts().due == 0)
      try FileManager.default.removeItem(at: file)
      try Self.photo.write(to: file)
      _ = try await media.server.sql.query("UPDATE media_removals SET due_at = due_at - interval '1 hour'")
      #expect(try await media.library.collect(unusedFor: .seconds(3600)) == MediaCollection(files: 1))
      #expect(try names(in: media.folder).isEmpty)
    }
  }

  @Test("A database whose folder another one has taken over neither continues nor removes a part there")
  func foreignPart() async throws {
    try await MediaServer.with { media in
      let path = try await media.begun()
      #expect(try await media.append(Self.photo.prefix(500), to: path, at: 0, isComplete: false).status == 204)
      try await TestServer.with(settings: { $0.media = media.storage }) { other in
        try await MediaLibrary(store: other.store, storage: media.storage).adopt()
        let rest = try await media.append(Self.photo[500...], to: path, at: 500, isComplete: false)
        #expect(rest.status == 503)
        #expect(try await media.cancel(path) == 204)
      }
      #expect(try Data(contentsOf: media.part(of: path)) == Self.photo.prefix(500))
    }
  }
}

/// A folder whose label is missing when it is first read, as if another process wrote it at this moment.
private final class LateLabel: MediaStorage, LabelledStorage {
  private let base: MediaDirectory
  private let hasBeenRead = Mutex(false)

  init(base: MediaDirectory) {
    self.base = base
  }

  var labelled: (any LabelledStorage)? { self }

  func label() async throws -> Data? {
    let isFirst = hasBeenRead.withLock { hasBeenRead in
      defer { hasBeenRead = true }
      return !hasBeenRead
    }
    return isFirst ? nil : try await base.label()
  }

  func exists() async throws -> Bool { try await base.exists() }
  func hasFiles() async throws -> Bool { try await base.hasFiles() }
  func setLabel(_ label: Data) async throws { try await base.setLabel(label) }
  func begin() async throws -> any MediaUpload { try await base.begin() }
  func open(_ digest: MediaDigest) async throws -> MediaFile? { try await base.open(digest) }
  func digests() async throws -> [MediaDigest] { try await base.digests() }
  func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int { 0 }
  func sweep() async throws -> Int { 0 }
}

/// A folder of files that runs an action before each file is opened.
private struct ObservedStorage: MediaStorage {
  let storage: MediaDirectory
  let willOpen: @Sendable () async -> Void

  var labelled: (any LabelledStorage)? { storage.labelled }

  func begin() async throws -> any MediaUpload { try await storage.begin() }

  func open(_ digest: MediaDigest) async throws -> MediaFile? {
    await willOpen()
    return try await storage.open(digest)
  }

  func digests() async throws -> [MediaDigest] { try await storage.digests() }

  func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int {
    try await storage.remove(digests, storedBefore: date)
  }

  func sweep() async throws -> Int { try await storage.sweep() }
}
