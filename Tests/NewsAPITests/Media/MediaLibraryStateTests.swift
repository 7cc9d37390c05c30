import Foundation
import MediaFiles
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The states of a folder, and their consequences.
@Suite struct MediaLibraryStateTests {
  private static let photo = SampleMedia.png(bytes: 2000)

  @Test("The state of a folder follows from its label, its files, and the library that the database has adopted")
  func states() async throws {
    try await MediaServer.with { media in
      let (sql, label) = (media.server.sql, media.folder.appending(path: "library.json"))
      func state() async throws -> MediaLibraryState { try await media.library.state() }
      #expect(try await state() == .new)
      for seed in 1...10 { _ = try await media.stored(SampleMedia.png(seed: UInt64(seed))) }
      #expect(try await state() == .adopted)
      #expect(try await media.library.report().isConsistent)
      let content = try Data(contentsOf: label)
      let name = /\{"database":[0-9]+,"id":"[0-9A-F-]{36}","systemIdentifier":"[0-9]+","table":[0-9]+\}\n/
      #expect(String(decoding: content, as: UTF8.self).wholeMatch(of: name) != nil)
      // A label that this server cannot have written.
      try Data("{}".utf8).write(to: label)
      #expect(try await state() == .foreign)
      try content.write(to: label)
      // In a restored dump, the table is another one.
      _ = try await sql.query("UPDATE media_library SET table_oid = table_oid + 1")
      #expect(try await state() == .copied)
      #expect(try await !media.library.report().isConsistent)
      try FileManager.default.removeItem(at: label)
      #expect(try await state() == .copied)
      _ = try await sql.query("UPDATE media_library SET table_oid = table_oid - 1")
      #expect(try await state() == .unlabelled)
      // After an upgrade, a tenth of the files may be missing.
      _ = try await sql.query("DELETE FROM media_library")
      for (seed, expected) in [(1, .new), (2, .unlabelled)] as [(UInt64, MediaLibraryState)] {
        try FileManager.default.removeItem(at: media.folder.appending(path: SampleMedia.png(seed: seed).sha256))
        #expect(try await state() == expected)
      }
      try content.write(to: label)
      #expect(try await state() == .foreign)
      try FileManager.default.removeItem(at: media.folder)
      #expect(try await state() == .missing)
      await #expect(throws: MediaLibraryError(state: .missing)) { try await media.library.adopt() }
      await #expect(throws: MediaLibraryError(state: .missing)) { try await media.library.report() }
      #expect(!FileManager.default.fileExists(atPath: media.folder.path))
      _ = try await sql.query("DELETE FROM media")
      #expect(try await state() == .new)
      #expect(try await media.library.report().isConsistent)
    }
  }

  @Test("A folder whose label cannot be read is unusable: nothing is stored, removed or adopted; readers get files")
  func unusable() async throws {
    try await MediaServer.with { media in
      let path = try await media.published(Self.photo)
      _ = try await media.stored(SampleMedia.png(seed: 2))
      try Self.photo.write(to: media.folder.appending(path: "upload-1"))
      let label = media.folder.appending(path: "library.json")
      try FileManager.default.removeItem(at: label)
      try FileManager.default.createDirectory(at: label, withIntermediateDirectories: false)
      let log = RecordingLog()
      #expect(try await media.library.prepare(log.logger) == .unusable)
      #expect(log.text.contains("uploads are refused and no file is removed"))
      #expect(log.text.contains("the folder for files cannot be read and written"))
      let error = MediaLibraryError(state: .unusable)
      await #expect(throws: error) { try await media.library.collect(unusedFor: .seconds(-10)) }
      await #expect(throws: error) { try await media.library.adopt() }
      await #expect(throws: error) { try await media.library.report() }
      let refused = try await media.upload(SampleMedia.png(seed: 3))
      #expect(try refused.json(Problem.self, status: 503).type == "/problems/media-unavailable")
      #expect(try await media.server.store.mediaCounts() == (2, 0))
      #expect(try names(in: media.folder).count == 3)
      #expect(try await media.server.get(path).body == Self.photo)
    }
  }

  @Test("A folder that cannot be created is unusable, and nothing is adopted")
  func notCreated() async throws {
    try await MediaServer.with { media in
      // The link leads to a file system that is not mounted.
      let link = media.folder.appending(path: "link")
      try FileManager.default.createSymbolicLink(
        at: link, withDestinationURL: media.folder.appending(path: "nowhere"))
      let storage = try MediaDirectory(link.appending(path: "media"), createsFolder: false)
      let library = MediaLibrary(store: media.server.store, storage: storage)
      #expect(try await library.state() == .new)
      #expect(try await library.prepare(RecordingLog().logger) == .unusable)
      #expect(try await media.server.store.mediaLibrary().adopted == nil)
    }
  }

  @Test("The first start of a server adopts its folder and says so, and the next one says nothing")
  func prepared() async throws {
    try await MediaServer.with { media in
      let logs = [RecordingLog(), RecordingLog()]
      for log in logs {
        let state = try await media.library.prepare(log.logger)
        #expect(state == .adopted)
      }
      #expect(logs.map { $0.text.contains("the folder for files was adopted") } == [true, false])
      #expect(logs[1].text.isEmpty)
    }
  }

  @Test("A server removes abandoned uploads when it starts, unless its folder may be that of another database")
  func start() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(Self.photo)
      let abandoned = media.folder.appending(path: "upload-1")
      for isCopy in [false, true] {
        // In a restored dump, the table is another one.
        if isCopy { _ = try await media.server.sql.query("UPDATE media_library SET table_oid = table_oid + 1") }
        try Self.photo.write(to: abandoned)
        let log = RecordingLog()
        let collecting = Task { await media.library.collectRegularly(unusedFor: .seconds(3600), logger: log.logger) }
        defer { collecting.cancel() }
        try await eventually("the log says what was done") {
          log.text.contains(isCopy ? "warning no file is removed" : "info abandoned uploads removed")
        }
        #expect(log.text.contains("this database is a copy") == isCopy)
        #expect(try names(in: media.folder).contains("upload-1") == isCopy)
      }
    }
  }

  @Test("A server that finds no abandoned upload when it starts logs nothing")
  func quietStart() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(Self.photo)
      let (log, isSwept) = (RecordingLog(), Flag())
      let storage = WatchedStorage(storage: media.storage, willSweep: { isSwept.set() })
      let library = MediaLibrary(store: media.server.store, storage: storage)
      let collecting = Task { await library.collectRegularly(unusedFor: .seconds(3600), logger: log.logger) }
      defer { collecting.cancel() }
      try await eventually("the sweep has begun") { isSwept.isSet }
      // The end of the task is that of its pause after the sweep.
      collecting.cancel()
      await collecting.value
      #expect(log.text.isEmpty, "\(log.text)")
    }
  }

  @Test("A database whose folder is taken over while it removes files stops removing them")
  func takenOver() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(Self.photo)
      // More than are removed at a time.
      _ = try await media.server.sql.query(
        """
        INSERT INTO media_removals (media, sha256, due_at)
        SELECT gen_random_uuid(), sha256(n::text::bytea), clock_timestamp() FROM generate_series(1, 150) AS n
        """)
      try await TestServer.with(settings: { $0.media = media.storage }) { other in
        let storage = WatchedStorage(
          storage: media.storage,
          willRemove: { try await MediaLibrary(store: other.store, storage: media.storage).adopt() })
        let library = MediaLibrary(store: media.server.store, storage: storage)
        await #expect(throws: MediaLibraryError(state: .foreign)) {
          try await library.collect(unusedFor: .seconds(3600))
        }
        let counts = try await media.server.store.mediaCounts()
        #expect(counts.due == 50)
      }
    }
  }

  @Test("An adoption that another one has overtaken is repeated")
  func overtaken() async throws {
    try await MediaServer.with { media in
      _ = try await media.stored(Self.photo)
      let (store, hasAdopted) = (media.server.store, Flag())
      // In a restored dump, the table is another one.
      _ = try await media.server.sql.query("UPDATE media_library SET table_oid = table_oid + 1")
      let storage = WatchedStorage(
        storage: media.storage,
        willReadLabel: {
          guard !hasAdopted.isSet else { return }
          hasAdopted.set()
          // Another process adopts another folder.
          let known = try await store.mediaLibrary().adopted?.id
          _ = try await store.adoptMedia(replacing: known, asOperator: true) { _ in }
        })
      try await MediaLibrary(store: store, storage: storage).adopt()
      #expect(hasAdopted.isSet)
      #expect(try await media.library.state() == .adopted)
    }
  }

  @Test("The report has all rows without a file and all files without a row, however many there are")
  func manyFindings() async throws {
    try await MediaServer.with { media in
      _ = try await media.library.collect(unusedFor: .seconds(3600))
      _ = try await media.server.sql.query(
        """
        INSERT INTO media (id, sha256, type, bytes)
        SELECT lpad(to_hex(n), 32, '0')::uuid, sha256(n::text::bytea), 'image/png', 1 FROM generate_series(1, 1001) AS n
        """)
      for number in 1...1001 {
        try Data().write(to: media.folder.appending(path: Data("file \(number)".utf8).sha256))
      }
      let sample = try await media.library.sample()
      #expect((sample.count, sample.missing) == (500, 500))
      let report = try await media.library.report()
      #expect((report.rows, report.files) == (1001, 1001))
      #expect(Set(report.rowsWithoutFile.map(\.id)).count == 1001)
      #expect(Set(report.filesWithoutRow).count == 1001)
      #expect(report.filesWithoutRow == report.filesWithoutRow.sorted())
    }
  }
}

/// A folder of files that runs an action before each removal, before its label is read, and before a sweep.
private struct WatchedStorage: MediaStorage, LabelledStorage {
  let storage: MediaDirectory
  var willRemove: @Sendable () async throws -> Void = {}
  var willReadLabel: @Sendable () async throws -> Void = {}
  var willSweep: @Sendable () async throws -> Void = {}

  var labelled: (any LabelledStorage)? { self }

  func exists() async throws -> Bool { try await storage.exists() }
  func hasFiles() async throws -> Bool { try await storage.hasFiles() }
  func setLabel(_ label: Data) async throws { try await storage.setLabel(label) }

  func label() async throws -> Data? {
    try await willReadLabel()
    return try await storage.label()
  }

  func begin() async throws -> any MediaUpload { try await storage.begin() }
  func open(_ digest: MediaDigest) async throws -> MediaFile? { try await storage.open(digest) }
  func digests() async throws -> [MediaDigest] { try await storage.digests() }

  func remove(_ digests: [MediaDigest], storedBefore date: Date) async throws -> Int {
    try await willRemove()
    return try await storage.remove(digests, storedBefore: date)
  }

  func sweep() async throws -> Int {
    try await willSweep()
    return try await storage.sweep()
  }
}
