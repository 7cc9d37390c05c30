import Crypto
import Foundation
import News
import NewsStore
import PostgresClient
import Synchronization
import TestKit
import TestSupport
import Testing

/// The rows of files, and their guards against concurrent work.
@Suite struct MediaStoreTests {
  private static func media(_ number: Int) -> Media {
    Media(
      id: UUID(number), digest: Data(SHA256.hash(data: Data("\(number)".utf8))), type: "image/png", bytes: 100)
  }

  /// Inserts files that no item uses, without a removal that is due.
  private static func insert(_ count: Int, _ sql: PostgresPool) async throws {
    _ = try await sql.query(
      """
      INSERT INTO media (id, sha256, type, bytes, used_at)
      SELECT lpad(to_hex(n), 32, '0')::uuid, sha256(n::text::bytea), 'image/png', 1, clock_timestamp() - interval '2 days'
      FROM generate_series(1, \(count)) AS n
      """)
  }

  private static func isWaiting(_ sql: PostgresPool) async throws -> Bool {
    let waiting: Int = try await sql.value(
      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
    return waiting > 0
  }

  /// Runs one piece of work while another one is in its middle.
  ///
  /// - Parameters:
  ///   - first: The work that begins first. It calls its argument in its middle.
  ///   - second: The work that must wait for it. It calls its argument in its middle.
  private static func order(
    _ sql: PostgresPool, _ first: @escaping @Sendable (_ middle: @Sendable () async -> Void) async throws -> Void,
    _ second: @escaping @Sendable (_ middle: @Sendable () async -> Void) async throws -> Void
  ) async throws {
    let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let (release, isReleased) = AsyncStream.makeStream(of: Void.self)
    defer { isReleased.finish() }
    let isBeside = Flag()
    let early = Task {
      try await first {
        hasBegun.finish()
        for await _ in release {}
      }
    }
    for await _ in begun {}
    let late = Task { try await second { isBeside.set() } }
    try await eventually("the second one waits") { try await isWaiting(sql) || isBeside.isSet }
    #expect(!isBeside.isSet)
    isReleased.finish()
    try await early.value
    try await late.value
    #expect(isBeside.isSet)
  }

  @Test("No file is moved into place while files are removed, and none is removed while one is moved")
  func exclusion() async throws {
    try await NewsDatabase.withStore { store, sql in
      let remove: @Sendable (_ middle: @Sendable () async -> Void) async throws -> Void = { middle in
        _ = try await sql.query(
          "INSERT INTO media_removals (media, sha256, due_at) VALUES (gen_random_uuid(), sha256('x'), clock_timestamp())"
        )
        _ = try await store.removeDueMedia { _ in
          await middle()
          return []
        }
      }
      let register: @Sendable (_ middle: @Sendable () async -> Void) async throws -> Void = { middle in
        _ = try await store.registerMedia(Self.media(1)) { await middle() }
      }
      try await Self.order(sql, remove, register)
      try await Self.order(sql, register, remove)
    }
  }

  @Test("Without a file to remove, nothing waits for one that is moved into place")
  func nothingDue() async throws {
    try await NewsDatabase.withStore { store, sql in
      let isOver = Flag()
      _ = try await store.registerMedia(Self.media(1)) {
        Task {
          defer { isOver.set() }
          _ = try? await store.removeDueMedia { _ in [] }
        }
        try await eventually("the removal ends, or waits") { try await Self.isWaiting(sql) || isOver.isSet }
        #expect(isOver.isSet)
      }
    }
  }

  @Test("All unused files are unregistered and removed, however many there are")
  func many() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.insert(1100, sql)
      // The same ten of so many files are not drawn twice.
      let samples = [try await store.sampleOfMedia(10), try await store.sampleOfMedia(10)].map { Set($0.map(\.id)) }
      #expect(samples.map(\.count) == [10, 10] && samples[0] != samples[1])
      #expect(try await store.forgetUnusedMedia(for: .seconds(86_400)) == 1100)
      let counts = Mutex<[Int]>([])
      while try await store.removeDueMedia({ files in
        counts.withLock { $0.append(files.count) }
        return []
      }) {}
      #expect(counts.withLock { $0.reduce(0, +) } == 1100)
      #expect(counts.withLock { $0.max() } == 100)
      #expect(try await store.mediaCounts() == (0, 0))
    }
  }

  @Test("Registered files are read in pages in the order of their ids")
  func pages() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.insert(5, sql)
      // The row that was written last is read first.
      _ = try await sql.query("UPDATE media SET name = 'a' WHERE id = \(UUID(1))")
      var (found, last): ([Int], UUID?) = ([], nil)
      repeat {
        let page = try await store.registeredMedia(after: last, 2)
        found.append(page.count)
        last = page.last?.id
      } while last != nil && found.count < 9
      #expect(found == [2, 2, 1, 0])
    }
  }

  @Test("A library is adopted only in place of the one that is known, and servers keep the time of an operator")
  func adoption() async throws {
    try await NewsDatabase.withStore { store, sql in
      @Sendable func adopt(replacing known: UUID?, asOperator: Bool = false) async throws -> Bool {
        try await store.adoptMedia(replacing: known, asOperator: asOperator) { _ in }
      }
      func time() async throws -> Date? { try await sql.value("SELECT adopted_at FROM media_library") }
      #expect(try await !adopt(replacing: UUID(1)))
      #expect(try await adopt(replacing: nil))
      #expect(try await time() == nil)
      let first = try #require(try await store.mediaLibrary().adopted?.id)
      for other in [nil, UUID(1)] { #expect(try await !adopt(replacing: other)) }
      #expect(try await store.mediaLibrary().adopted?.id == first)
      #expect(try await adopt(replacing: first, asOperator: true))
      let adopted = try #require(try await time())
      let second = try #require(try await store.mediaLibrary().adopted?.id)
      #expect(try await adopt(replacing: second))
      #expect(try await time() == adopted)
    }
  }

  @Test("A library belongs to a database with the same cluster, oid and table, as after an adoption")
  func copies() async throws {
    try await NewsDatabase.withStore { store, sql in
      @Sendable func adopt() async throws -> UUID? {
        let known = try await store.mediaLibrary().adopted?.id
        let isDone = try await store.adoptMedia(replacing: known, asOperator: false) { _ in }
        let facts = try await store.mediaLibrary()
        #expect(isDone && facts.isOriginal)
        return facts.adopted?.id
      }
      #expect(try await !store.mediaLibrary().isOriginal)
      var ids = [try await adopt()]
      let changes: [PostgresQuery] = [
        "UPDATE media_library SET system_identifier = '7'", "UPDATE media_library SET database_oid = database_oid + 1",
        "UPDATE media_library SET table_oid = table_oid + 1",
      ]
      for change in changes {
        _ = try await sql.query(change)
        #expect(try await !store.mediaLibrary().isOriginal)
        ids.append(try await adopt())
      }
      // The databases that know a former id have lost the library.
      #expect(Set(ids).count == 4)
    }
  }

  @Test("Files are removed in the order in which they are due, and alone if they are asked for")
  func removalOrder() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await sql.query(
        """
        INSERT INTO media_removals (media, sha256, due_at)
        SELECT lpad(to_hex(n), 32, '0')::uuid, sha256(n::text::bytea), clock_timestamp() - n * interval '1 minute'
        FROM generate_series(1, 150) AS n
        """)
      // The content of the first one is registered, which keeps no other file.
      try await Self.insert(1, sql)
      let found = Mutex<[UUID]>([])
      let mayContinue = try await store.removeDueMedia { files in
        found.withLock { $0 = files.map(\.id) }
        return []
      }
      #expect(mayContinue)
      #expect(found.withLock { $0 } == (51...150).reversed().map { UUID($0) })
      let seventh = try await store.removeDueMedia(among: [Data(SHA256.hash(data: Data("7".utf8)))]) { files in
        found.withLock { $0 = files.map(\.id) }
        return []
      }
      #expect(!seventh)
      #expect(found.withLock { $0 } == [UUID(7)])
      #expect(try await store.mediaCounts().due == 49)
      _ = try await store.removeDueMedia { files in
        found.withLock { $0 = files.map(\.id) }
        return []
      }
      let rest: [UUID] = (2...50).reversed().filter { $0 != 7 }.map { UUID($0) }
      #expect(found.withLock { $0 } == rest)
      #expect(try await store.mediaCounts() == (1, 0))
    }
  }

  @Test("Items are named by their titles, and those without one by the first 300 characters of their texts")
  func titles() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await sql.makeTopics("port", "sea")
      try await sql.publish([UUID(4)], topics: ["port"])
      try await sql.publish([UUID(5)], topics: ["sea"])
      try await sql.publish([UUID(1), UUID(2)], text: String(repeating: "é", count: 301))
      try await sql.publish([UUID(2)], after: "UPDATE items SET title = 'Fog', language = 'de' WHERE id = \(UUID(2))")
      let titles = try await store.itemTitles(of: [UUID(1), UUID(2), UUID(3)], for: .full)
      #expect(titles.count == 2)
      let (unnamed, named) = (try #require(titles[UUID(1)]), try #require(titles[UUID(2)]))
      #expect(unnamed.title == nil && unnamed.text == String(repeating: "é", count: 300))
      #expect(named.title == "Fog" && named.text.isEmpty && named.language == "de")
      #expect(try await store.itemTitles(of: [], for: .full).isEmpty)
      let visible = try await store.itemTitles(of: [1, 4, 5].map { UUID($0) }, for: ItemAccess(topics: ["port"]))
      #expect(Array(visible.keys) == [UUID(4)])
    }
  }

  @Test("The file of an item whose removal alone is known answers with the reason")
  func gone() async throws {
    try await NewsDatabase.withStore { store, sql in
      try await Self.insert(2, sql)
      // Readers have seen other items, with another file.
      try await sql.publish([UUID(8)])
      _ = try await sql.query("INSERT INTO media_uses (media, item) VALUES (\(UUID(2)), \(UUID(8)))")
      _ = try await sql.query("INSERT INTO media_publications (media, item) VALUES (\(UUID(2)), \(UUID(8)))")
      _ = try await sql.query("INSERT INTO gone_items (item, reason) VALUES (\(UUID(9)), 'expired')")
      _ = try await sql.query("INSERT INTO media_uses (media, item) VALUES (\(UUID(1)), \(UUID(7)))")
      await #expect(throws: StoreError.notFound) { try await store.media(UUID(1)) }
      #expect(try await store.media(UUID(2)).id == UUID(2))
      _ = try await sql.query("INSERT INTO withdrawn_media (media, reason) VALUES (\(UUID(1)), 'expired')")
      await #expect(throws: StoreError.notFound) { try await store.media(UUID(1)) }
      _ = try await sql.query("INSERT INTO gone_items (item, reason) VALUES (\(UUID(7)), 'expired')")
      await #expect(throws: StoreError.mediaWithdrawn(.expired)) { try await store.media(UUID(1)) }
    }
  }
}

/// The rows of uploads that continue over several requests.
@Suite struct MediaUploadStoreTests {
  private static let limits = MediaUploadLimits(uploads: 1, bytes: 1000, undeclaredBytes: 10, lifetime: 3600)

  private static func upload() -> MediaUploadState {
    MediaUploadState(id: UUID(), type: "image/png", name: nil, digest: nil, length: nil)
  }

  @Test("Uploads that begin at the same time do not exceed the limit together")
  func together() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.createKey(name: "photo", permissions: [.mediaWrite])
      let key: String = try await sql.value("SELECT id FROM api_keys")
      let isOver = Flag()
      let beginning = try await sql.transaction { transaction in
        // Another process begins an upload.
        _ = try await transaction.query("SELECT 1 FROM api_keys WHERE id = \(key) FOR NO KEY UPDATE")
        let late = Task {
          defer { isOver.set() }
          return try await store.beginUpload(Self.upload(), by: key, Self.limits)
        }
        try await eventually("the second one waits") {
          let waiting: PostgresQuery =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
          return try await sql.value(waiting) > 0 || isOver.isSet
        }
        _ = try await transaction.query(
          """
          INSERT INTO media_uploads (id, api_key, type, expires_at)
          VALUES (gen_random_uuid(), \(key), 'image/png', clock_timestamp() + interval '1 hour')
          """)
        return late
      }
      await #expect(throws: StoreError.uploadLimit) { try await beginning.value }
    }
  }

  @Test("An upload that was cancelled at the last moment registers no file")
  func cancelled() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.createKey(name: "photo", permissions: [.mediaWrite])
      let key: String = try await sql.value("SELECT id FROM api_keys")
      let upload = try await store.beginUpload(Self.upload(), by: key, Self.limits)
      try await store.removeUpload(upload.id, of: key)
      let media = Media(id: UUID(1), digest: Data(count: 32), type: "image/png", bytes: 1)
      await #expect(throws: StoreError.notFound) { try await store.registerMedia(media, completing: upload.id) {} }
      #expect(try await store.mediaCounts().registered == 0)
    }
  }

  @Test("A complete upload takes no more bytes, becomes no second file, and stays for a sender that asks for it")
  func complete() async throws {
    try await NewsDatabase.withStore { store, sql in
      _ = try await store.createKey(name: "photo", permissions: [.mediaWrite])
      let key: String = try await sql.value("SELECT id FROM api_keys")
      let upload = try await store.beginUpload(Self.upload(), by: key, Self.limits)
      @Sendable func register(_ number: Int) async throws -> UUID {
        let media = Media(
          id: UUID(number), digest: Data(repeating: UInt8(number), count: 32), type: "image/png", bytes: 100)
        let (registered, _) = try await store.registerMedia(media, completing: upload.id) {}
        return registered.id
      }
      #expect(try await register(1) == UUID(1))
      await #expect(throws: StoreError.notFound) {
        try await store.recordUpload(upload.id, received: 50, lifetime: 3600)
      }
      await #expect(throws: StoreError.notFound) { try await register(2) }
      // The bytes of the second file are removed a day later, as no row of a file is about them.
      #expect(try await store.mediaCounts() == (1, 0))
      let removals = try await sql.query("SELECT media FROM media_removals")
      #expect(try removals.map { try $0.decode("media", as: UUID.self) } == [UUID(2)])
      try await store.forgetUpload(upload.id)
      try await store.forgetCancelledUpload(upload.id)
      try await store.forgetUploads(keeping: [])
      let state = try await store.upload(upload.id, of: key)
      #expect(state.media == UUID(1) && state.received == 100)
    }
  }

  @Test("What happens to one upload has no effect on another one of its key, and keys have limits of their own")
  func others() async throws {
    try await NewsDatabase.withStore { store, sql in
      var limits = Self.limits
      limits.uploads = 4
      for id in ["a", "b"] { _ = try await store.createKey(id: id, name: id, permissions: [.mediaWrite]) }
      var uploads: [UUID] = []
      for _ in 0..<4 { uploads.append(try await store.beginUpload(Self.upload(), by: "a", limits).id) }
      let (other, complete, removed, last) = (uploads[0], uploads[1], uploads[2], uploads[3])
      let declared = MediaUploadState(
        id: UUID(), type: "audio/mpeg", name: "a.mp3", digest: Data(repeating: 7, count: 32), length: 970)
      _ = try await store.beginUpload(declared, by: "b", limits)
      try await store.recordUpload(complete, received: 50, lifetime: 3600)
      let media = Media(id: UUID(1), digest: Data(count: 32), type: "image/png", bytes: 100)
      _ = try await store.registerMedia(media, completing: complete) {}
      try await store.removeUpload(removed, of: "a")
      #expect(try await store.endedUploads(among: [other, last]).isEmpty)
      #expect(Set(try await store.endedUploads(among: uploads)) == [complete, removed])
      try await store.forgetCancelledUpload(removed)
      try await store.forgetUpload(last)
      #expect(Set(try await store.unknownUploads(among: uploads)) == [removed, last])
      let state = try await store.upload(other, of: "a")
      #expect(state.received == 0 && state.media == nil)
      #expect(try await store.upload(declared.id, of: "b") == declared)
      #expect(try await sql.value("SELECT count(*) FROM media_uploads") == 3)
    }
  }

  @Test("An upload without a length counts as what it has received, if that is more than what such uploads count as")
  func undeclared() async throws {
    try await NewsDatabase.withStore { store, _ in
      let limits = MediaUploadLimits(uploads: 9, bytes: 100, undeclaredBytes: 10, lifetime: 3600)
      _ = try await store.createKey(id: "a", name: "a", permissions: [.mediaWrite])
      let first = try await store.beginUpload(Self.upload(), by: "a", limits)
      try await store.recordUpload(first.id, received: 91, lifetime: 3600)
      await #expect(throws: StoreError.uploadLimit) { try await store.beginUpload(Self.upload(), by: "a", limits) }
      try await store.recordUpload(first.id, received: 90, lifetime: 3600)
      _ = try await store.beginUpload(Self.upload(), by: "a", limits)
      await #expect(throws: StoreError.uploadLimit) { try await store.beginUpload(Self.upload(), by: "a", limits) }
    }
  }
}
