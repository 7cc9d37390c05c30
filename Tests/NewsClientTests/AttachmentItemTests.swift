import BackgroundFetch
import FaultServer
import Foundation
import GRDB
import HTTPTransfer
import News
import NewsClient
import TestKit
import Testing

@Suite("The items whose attachments are downloaded") struct AttachmentItemTests {
  /// Runs the body with a client that downloads attachments, and a function that publishes an item and fetches it.
  private func with(
    _ policy: AttachmentPolicy = AttachmentPolicy(.all),
    _ body: (Installation, TransferJournal, (NewsItem) async throws -> Void) async throws -> Void
  ) async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let downloads = try AttachmentDownloads(client, policy: policy) {}
      try await body(installation, try TransferJournal(store: installation.folder)) { item in
        installation.feed.publish([item])
        await client.performFetch()
        _ = await client.application.suspend()
      }
      withExtendedLifetime(downloads) {}
    }
  }

  private func item(_ text: String, title: String? = nil, _ attachments: News.Attachment...) -> NewsItem {
    NewsItem(
      id: UUID(), version: 0, date: Date(timeIntervalSince1970: 1_767_225_600), text: text, title: title,
      attachments: attachments, updated: Date(timeIntervalSince1970: 0))
  }

  @Test("are those that arrive from now on, not those that are already stored")
  func stored() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      installation.feed.publish([item("one", News.Attachment(url: "/v1/media/1", type: "image/png"))])
      await client.performFetch()
      let downloads = try AttachmentDownloads(client, policy: AttachmentPolicy(.all)) {}
      installation.feed.publish([item("two", News.Attachment(url: "/v1/media/2", type: "image/png"))])
      await client.performFetch()
      _ = await client.application.suspend()
      let journal = try TransferJournal(store: installation.folder)
      #expect(try journal.transfers().map(\.request.url.path) == ["/v1/media/2"])
      withExtendedLifetime(downloads) {}
    }
  }

  @Test("include one whose download has ended without the file and that changes; what has ended takes no place")
  func again() async throws {
    let policy = AttachmentPolicy(.all, maximumItemBytes: 600, maximumTotalBytes: 600, maximumFiles: 1)
    try await with(policy) { _, journal, fetch in
      var news = item("one", News.Attachment(url: "/v1/media/1", type: "image/png", bytes: 600))
      try await fetch(news)
      let first = try #require(try journal.transfers().first)
      news.text = "changed"
      try await fetch(news)
      #expect(try journal.transfers().count == 1, "it is under way")
      try journal.cancel(first.number)
      try await fetch(item("two"))
      #expect(try journal.transfers().map(\.state) == [.cancelled], "it has not changed")
      news.text = "changed again"
      try await fetch(news)
      #expect(try journal.transfers().map(\.state) == [.cancelled, .running])
    }
  }

  @Test("count for the total with no more than their maximum if their length is unknown")
  func unknownLengths() async throws {
    try await with(AttachmentPolicy(.all, maximumItemBytes: 600, maximumTotalBytes: 1200)) { _, journal, fetch in
      for number in 1...3 {
        try await fetch(item("\(number)", News.Attachment(url: "/v1/media/\(number)", type: "image/png")))
      }
      #expect(try journal.transfers().map(\.request.url.path) == ["/v1/media/1", "/v1/media/2"])
    }
  }

  @Test("count for the total with their length once a server has declared it")
  func declaredLength() async throws {
    try await with(AttachmentPolicy(.all, maximumItemBytes: 3000, maximumTotalBytes: 4000)) { _, journal, fetch in
      try await fetch(item("one", News.Attachment(url: "/v1/media/1", type: "image/png")))
      let queue = try DatabaseQueue(path: journal.folder.appending(path: "journal.sqlite").path)
      try await queue.write { db in
        try db.execute(
          sql: "UPDATE transfers SET json = CAST(json_set(CAST(json AS TEXT), '$.total', 1000) AS BLOB)")
      }
      try queue.close()
      #expect(try journal.transfers().map(\.total) == [1000])
      try await fetch(item("two", News.Attachment(url: "/v1/media/2", type: "image/png")))
      #expect(try journal.transfers().count == 2)
    }
  }

  @Test("have another budget in each version")
  func budgets() async throws {
    try await with { _, journal, fetch in
      var news = item("one", News.Attachment(url: "/v1/media/1", type: "image/png"))
      try await fetch(news)
      news.text = "changed"
      news.attachments = [News.Attachment(url: "/v1/media/2", type: "image/png")]
      try await fetch(news)
      let budgets = try journal.transfers().compactMap(\.request.budget)
      #expect(budgets.count == 2)
      #expect(Set(budgets.map(\.name)).count == 2)
    }
  }

  @Test("are reported if no worker starts for them, or if they have no folder")
  func failures() async throws {
    try await Installation.with { installation in
      let log = Reports()
      let client = try NewsFetcher(
        .init(folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1"),
        application: ApplicationLifecycle(launchReason: .fetch, clock: installation.clock), clock: installation.clock,
        log: log.note)
      let folder = installation.folder.appending(path: "attachments")
      try Data().write(to: folder)
      let failure = #expect(throws: FetchError.self) {
        _ = try AttachmentDownloads(client, policy: AttachmentPolicy(.all)) {}
      }
      #expect(failure?.code == .storage)
      #expect(failure?.message == "cannot write to the folder of attachments: not a directory")
      try FileManager.default.removeItem(at: folder)
      let downloads = try AttachmentDownloads(client, policy: AttachmentPolicy(.all)) {
        throw FetchError(.storage, "there is no worker")
      }
      installation.feed.publish([item("one", News.Attachment(url: "/v1/media/1", type: "image/png"))])
      await client.performFetch()
      _ = await client.application.suspend()
      #expect(log.texts.contains("attachments: there is no worker"), "\(log.texts)")
      let transfers = try TransferJournal(store: installation.folder).transfers()
      #expect(transfers.map(\.state) == [.running])
      withExtendedLifetime(downloads) {}
    }
  }

  @Test("have files in the folder alone, whatever digest their server names")
  func names() async throws {
    let digest = String(repeating: "AB", count: 32)
    try await with { installation, journal, fetch in
      try await fetch(
        item(
          "one", News.Attachment(url: "/v1/media/1", type: "image/png", sha256: "../../evil"),
          News.Attachment(url: "/v1/media/2", type: "image/png", sha256: digest),
          News.Attachment(url: "/v1/media/3", type: "image/png", sha256: digest + "0")))
      let files = try journal.transfers().compactMap(\.request.file)
      try #require(files.count == 3)
      let folder = installation.folder.appending(path: "attachments").path
      #expect(files.allSatisfy { $0.deletingLastPathComponent().standardizedFileURL.path == folder })
      #expect(files.allSatisfy { $0.lastPathComponent.wholeMatch(of: /[0-9a-f]{64}/) != nil })
      #expect(files[1].lastPathComponent == digest.lowercased())
    }
  }

  @Test(
    "give their downloads a headline: the title, or else the beginning of the text, on one line",
    arguments: [
      ("Night ferry", "text", "Night ferry"), (nil, "The night\n\tferry  returns. ", "The night ferry returns."),
      (nil, String(repeating: "x", count: 60), String(repeating: "x", count: 60)),
      (nil, String(repeating: "x", count: 61), String(repeating: "x", count: 60) + "…"),
    ] as [(String?, String, String)])
  func headlines(title: String?, text: String, headline: String) async throws {
    try await with { _, journal, fetch in
      try await fetch(item(text, title: title, News.Attachment(url: "/v1/media/1", type: "image/png")))
      #expect(try journal.transfers().map(\.taskDescription) == [headline])
    }
  }

  @Test("and their files are as many as the documentation says, unless the app says otherwise")
  func defaults() throws {
    let policy = AttachmentPolicy(.thumbnails)
    #expect((policy.maximumItemBytes, policy.maximumTotalBytes, policy.maximumFiles) == (10 << 20, 200 << 20, 1000))
    #expect(!policy.allowsOtherServers)
    let feed = FollowedFeed(server: try #require(URL(string: "https://news.example")))
    #expect(feed.extent == .window(100))
    #expect(feed.topics.isEmpty)
  }

  private static let conditions: [(FetchConstraints, Set<Transfer.Obstacle>)] = [
    (FetchConstraints(), []), (FetchConstraints(isOnBattery: true), [.power]),
    (FetchConstraints(isLowPower: true), [.power]), (FetchConstraints(isMetered: true), [.network]),
    (FetchConstraints(isMetered: true, isLowPower: true), [.power, .network]),
  ]

  @Test("wait for power and an unmetered network in the background", arguments: conditions)
  func obstacles(constraints: FetchConstraints, obstacles: Set<Transfer.Obstacle>) {
    #expect(constraints.obstacles == obstacles)
  }
}

@Suite("A session of transfers of an application") struct ApplicationSessionTests {
  private final class Delegate: TransferDelegate {
    func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {}
  }

  @Test("makes those discretionary that the application adds in the background")
  func background() async throws {
    try await Installation.with { installation in
      let application = ApplicationLifecycle(launchReason: .user, clock: installation.clock)
      let session = try TransferSession(
        identifier: "media", store: installation.folder, application: application, delegate: Delegate(),
        startWorker: {})
      let url = try #require(URL(string: installation.server.url))
      await application.enterForeground()
      #expect(try session.transfer(TransferRequest(download: url)).transfer?.request.isDiscretionary == false)
      await application.enterBackground()
      #expect(try session.transfer(TransferRequest(download: url)).transfer?.request.isDiscretionary == true)
      await session.invalidate()
    }
  }

  @Test("launches the application at their end, unless it wants no launch", arguments: [true, false])
  func launches(sendsLaunchEvents: Bool) async throws {
    try await Installation.with { installation in
      let application = ApplicationLifecycle(launchReason: .user, clock: installation.clock)
      let session = try TransferSession(
        identifier: "media", store: installation.folder, application: application, delegate: Delegate(),
        sendsLaunchEvents: sendsLaunchEvents, startWorker: {})
      let url = try #require(URL(string: installation.server.url))
      let task = try session.transfer(TransferRequest(download: url))
      await session.invalidate()
      try task.cancel()
      let isNeeded = try TransferJournal.needsWorker(store: installation.folder, clock: installation.clock)
      #expect(isNeeded == sendsLaunchEvents)
    }
  }
}
