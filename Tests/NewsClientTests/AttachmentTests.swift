import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import News
import NewsClient
import Synchronization
import TestKit
import Testing

@Suite("Downloads of attachments") struct AttachmentTests {
  private func item(_ number: Int, _ attachments: [News.Attachment]) -> NewsItem {
    NewsItem(
      id: UUID(), version: 0, date: Date(timeIntervalSince1970: Double(number)), text: "\(number)",
      attachments: attachments, updated: Date(timeIntervalSince1970: 0))
  }

  @Test("are added once each by the policy, and removed with the last item that has them")
  func handedOver() async throws {
    try await Installation.with(extent: .window(2)) { installation in
      let client = try installation.client()
      let started = Mutex(0)
      let downloads = try AttachmentDownloads(client, policy: AttachmentPolicy(.all, maximumItemBytes: 1000)) {
        started.withLock { $0 += 1 }
      }
      let journal = try TransferJournal(store: installation.folder)
      let digest = String(repeating: "a", count: 64)
      let picture = News.Attachment(url: "/v1/media/1", type: "image/png", bytes: 600, sha256: digest)
      let large = News.Attachment(url: "https://example.org/film.mp4", type: "video/mp4", bytes: 401)
      let sound = News.Attachment(url: "https://example.org/a.mp3", type: "audio/mpeg", bytes: 400)
      let foreign = News.Attachment(url: "ftp://example.org/x", type: "image/png", bytes: 1)
      // Neither a negative length nor an unknown one makes more room.
      let negative = News.Attachment(url: "https://example.org/y", type: "image/png", bytes: -1)
      let unknown = News.Attachment(url: "https://example.org/z", type: "image/png")
      installation.feed.publish([item(1, [picture, negative, large, sound, foreign, unknown]), item(2, [picture])])
      await client.performFetch()
      try await eventually("the worker is started") { started.withLock(\.self) > 0 }
      #expect(started.withLock(\.self) == 1)
      let transfers = try journal.transfers()
      #expect(transfers.map(\.request.url.absoluteString) == [installation.server.url + "/v1/media/1", sound.url])
      #expect(transfers.map(\.request.mediaType) == ["image/png", "audio/mpeg"])
      #expect(transfers[0].request.sha256 == digest)
      #expect(transfers.map(\.request.maximumBytes) == [600, 400])
      #expect(transfers.allSatisfy { $0.state == .running && $0.request.isDiscretionary })

      #expect(downloads.file(of: picture) == nil)
      let place = try #require(transfers[0].request.file)
      try FileManager.default.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("x".utf8).write(to: place)
      #expect(downloads.file(of: picture) == place)
      let ownFile = installation.folder.appending(path: "own.bin")
      try journal.resume(journal.add(TransferRequest(download: transfers[0].request.url, to: ownFile)).number)
      installation.feed.publish("three")
      installation.feed.publish("four")
      await client.performFetch()
      _ = await client.application.suspend()
      #expect(downloads.file(of: picture) == nil, "nothing of them is left")
      let states = try journal.transfers().map(\.state)
      #expect(states == [.cancelled, .cancelled, .running], "the last one is of the app")
      #expect(started.withLock(\.self) == 1, "nothing was added")
      let folder = place.deletingLastPathComponent().path
      #expect(try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
    }
  }

  @Test("select the first picture or nothing", arguments: [AttachmentPolicy.Selection.thumbnails, .none])
  func thumbnails(selection: AttachmentPolicy.Selection) async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let downloads = try AttachmentDownloads(client, policy: AttachmentPolicy(selection)) {}
      let journal = try TransferJournal(store: installation.folder)
      installation.feed.publish([
        item(
          1,
          [
            News.Attachment(url: "https://example.org/a.mp3", type: "audio/mpeg"),
            News.Attachment(url: "https://example.org/a.png", type: "image/png"),
            News.Attachment(url: "https://example.org/b.png", type: "image/png"),
          ])
      ])
      await client.performFetch()
      _ = await client.application.suspend()
      let expected = selection == .none ? [] : ["https://example.org/a.png"]
      #expect(try journal.transfers().map(\.request.url.absoluteString) == expected)
      withExtendedLifetime(downloads) {}
    }
  }

  @Test("of unknown length share what those of known length leave, and have the headline of their item")
  func unknownLengths() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let downloads = try AttachmentDownloads(client, policy: AttachmentPolicy(.all, maximumItemBytes: 1000)) {}
      let journal = try TransferJournal(store: installation.folder)
      func file(_ name: String, _ bytes: Int? = nil) -> News.Attachment {
        News.Attachment(url: "https://example.org/\(name)", type: "image/png", bytes: bytes)
      }
      var news = item(1, [file("a"), file("b", 400), file("c"), file("d", 700), file("e")])
      news.title = "Night ferry returns"
      installation.feed.publish([news])
      await client.application.enterForeground()
      await client.performFetch()
      try await eventually("they are added") { try journal.transfers().count == 4 }
      _ = await client.application.suspend()
      let transfers = try journal.transfers()
      #expect(transfers.map { $0.request.url.lastPathComponent } == ["a", "b", "c", "e"])
      #expect(transfers.map(\.request.maximumBytes) == [600, 400, 600, 600])
      #expect(transfers.map { $0.request.budget?.maximumBytes } == [600, nil, 600, 600])
      #expect(Set(transfers.compactMap { $0.request.budget?.name }).count == 1)
      #expect(Set(transfers.map(\.taskDescription)) == ["Night ferry returns"])
      #expect(transfers.allSatisfy { !$0.request.isDiscretionary }, "the user waits for them")
      withExtendedLifetime(downloads) {}
    }
  }

  @Test("of unknown length do not use up the total before their length is known")
  func manyUnknownLengths() async throws {
    try await Installation.with { installation in
      let client = try installation.client()
      let downloads = try AttachmentDownloads(client, policy: AttachmentPolicy(.thumbnails)) {}
      let journal = try TransferJournal(store: installation.folder)
      installation.feed.publish(
        (1...50).map { item($0, [News.Attachment(url: "https://example.org/\($0)", type: "image/png")]) })
      await client.performFetch()
      _ = await client.application.suspend()
      #expect(try journal.transfers().count { $0.state == .running } == 50)
      installation.feed.publish(
        (51...100).map { item($0, [News.Attachment(url: "https://example.org/\($0)", type: "image/png")]) })
      await client.performFetch()
      _ = await client.application.suspend()
      #expect(try journal.transfers().count { $0.state == .running } == 100, "the first ones have no length yet")
      withExtendedLifetime(downloads) {}
    }
  }

  @Test("that a process could not add are added by the next one")
  func lost() async throws {
    try await Installation.with { installation in
      let picture = News.Attachment(url: "/v1/media/1", type: "image/png", bytes: 600)
      let journal = try TransferJournal(store: installation.folder)
      do {
        let client = try installation.client()
        let downloads = try AttachmentDownloads(client, policy: AttachmentPolicy(.all)) {}
        withExtendedLifetime(downloads) {}
      }
      // A process that dies after the commit and before its observers run has stored only the items.
      installation.feed.publish([item(1, [picture])])
      await (try installation.client()).performFetch()
      #expect(try journal.transfers().isEmpty)
      let client = try installation.client()
      let downloads = try AttachmentDownloads(client, policy: AttachmentPolicy(.all)) {}
      try await eventually("it is handed over") { try journal.transfers().count == 1 }
      _ = await client.application.suspend()
      // A second client must not add the transfer again.
      withExtendedLifetime(downloads) {}
      let again = try installation.client()
      let others = try AttachmentDownloads(again, policy: AttachmentPolicy(.all)) {}
      _ = await again.application.suspend()
      #expect(try journal.transfers().count == 1)
      withExtendedLifetime(others) {}
      // Nor does a handover remove the mark by which the next process finds further items.
      for number in 2...3 {
        let next = News.Attachment(url: "/v1/media/\(number)", type: "image/png", bytes: 600)
        installation.feed.publish([item(number, [next])])
        await (try installation.client()).performFetch()
        let last = try installation.client()
        let further = try AttachmentDownloads(last, policy: AttachmentPolicy(.all)) {}
        _ = await last.application.suspend()
        #expect(try journal.transfers().count == number)
        withExtendedLifetime(further) {}
      }
    }
  }

  @Test("are added for the items of a restored server, whose versions begin again, but not if the file is there")
  func restored() async throws {
    try await Installation.with { installation in
      let (feed, earlier) = (installation.feed, installation.feed.snapshot)
      for number in 1...3 { feed.publish("\(number)") }
      let client = try installation.client()
      await client.performFetch()
      let downloads = try AttachmentDownloads(client, policy: AttachmentPolicy(.all)) {}
      let journal = try TransferJournal(store: installation.folder)
      let digest = String(repeating: "a", count: 64)
      try Data("x".utf8).write(to: installation.folder.appending(path: "attachments").appending(path: digest))
      let picture = News.Attachment(url: "/v1/media/1", type: "image/png", bytes: 600)
      let stored = News.Attachment(url: "/v1/media/2", type: "image/png", bytes: 600, sha256: digest)
      feed.restore(earlier)
      feed.publish([item(4, [picture, stored])])
      #expect(await client.performFetch().inserted == 1)
      _ = await client.application.suspend()
      #expect(try journal.transfers().map(\.request.url.path) == ["/v1/media/1"])
      #expect(downloads.file(of: stored) != nil)
    }
  }

  @Test("stay within a total limit, for which the oldest files make room, and are given up after a day")
  func total() async throws {
    try await Installation.with(extent: .full) { installation in
      let client = try installation.client()
      let policy = AttachmentPolicy(.all, maximumItemBytes: 1000, maximumTotalBytes: 4000)
      let downloads = try AttachmentDownloads(client, policy: policy) {}
      let journal = try TransferJournal(store: installation.folder)
      let folder = installation.folder.appending(path: "attachments")
      for (index, name) in ["oldest", "older"].enumerated() {
        let file = folder.appending(path: name)
        try Data(repeating: 0, count: 1000).write(to: file)
        let date = Date(timeIntervalSince1970: 1_000_000 + Double(index))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
      }
      // The downloads of earlier rounds are still under way. The first round is exactly at the limit.
      let rounds: [(numbers: Range<Int>, files: [String])] = [
        (1..<3, ["older", "oldest"]), (3..<4, ["older"]), (4..<5, []), (5..<6, []),
      ]
      for (numbers, files) in rounds {
        installation.feed.publish(
          numbers.map { item($0, [News.Attachment(url: "/v1/media/\($0)", type: "image/png", bytes: 1000)]) })
        await client.performFetch()
        _ = await client.application.suspend()
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }
        #expect(left.sorted() == files, "\(numbers)")
      }
      let transfers = try journal.transfers()
      #expect(transfers.map(\.request.url.lastPathComponent) == ["2", "1", "3", "4"])
      #expect(
        transfers.allSatisfy {
          $0.request.timeout == .seconds(86_400) && $0.request.noResponseTimeout == .seconds(3600)
        })
      withExtendedLifetime(downloads) {}
    }
  }

  @Test("are limited in number, and replace the oldest files")
  func number() async throws {
    try await Installation.with(extent: .full) { installation in
      let client = try installation.client()
      let policy = AttachmentPolicy(.all, maximumFiles: 3)
      let downloads = try AttachmentDownloads(client, policy: policy) {}
      let journal = try TransferJournal(store: installation.folder)
      let folder = installation.folder.appending(path: "attachments")
      for (index, name) in ["oldest", "older", "new"].enumerated() {
        let file = folder.appending(path: name)
        try Data("x".utf8).write(to: file)
        let date = Date(timeIntervalSince1970: 1_000_000 + Double(index))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
      }
      func publish(_ numbers: Range<Int>) async throws {
        installation.feed.publish(
          numbers.map { item($0, [News.Attachment(url: "/v1/media/\($0)", type: "image/png", bytes: 1)]) })
        await client.performFetch()
        _ = await client.application.suspend()
      }
      try await publish(1..<3)
      #expect(try journal.transfers().count == 2)
      #expect(
        ["oldest", "older", "new"].map { FileManager.default.fileExists(atPath: folder.appending(path: $0).path) } == [
          false, false, true,
        ])
      try await publish(3..<9)
      #expect(try journal.transfers().count == 3)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") } == [])
      withExtendedLifetime(downloads) {}
    }
  }

  @Test(
    "use only the server and https if the news do",
    arguments: [
      ("https://NEWS.example/a.png", true),
      ("/v1/media/1", true), ("https://news.example/a.png", true), ("https://news.example:443/a.png", true),
      ("HTTPS://news.example/a.png", true),
      ("http://news.example/a.png", false), ("https://other.example/a.png", false),
      ("https://news.example:444/a.png", false), ("https://me@news.example/a.png", false),
      ("file:///etc/passwd", false),
    ])
  func origins(url: String, isWanted: Bool) throws {
    let server = try #require(URL(string: "https://news.example"))
    var policy = AttachmentPolicy(.all)
    let attachment = News.Attachment(url: url, type: "image/png")
    #expect((policy.location(of: attachment, server: server) != nil) == isWanted)
    policy.allowsOtherServers = true
    let isSafe = isWanted || url.hasPrefix("https://other") || url.hasPrefix("https://news.example:444")
    #expect((policy.location(of: attachment, server: server) != nil) == isSafe)
    let written = try #require(URL(string: "HTTPS://News.Example:443"))
    #expect((AttachmentPolicy(.all).location(of: attachment, server: written) != nil) == isWanted)
  }
}
