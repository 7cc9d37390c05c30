import BackgroundFetch
import Foundation
import News
import NewsClient
import TestKit
import TestSupport
import Testing

/// The paths of the feeds for feed readers, with and without a topic.
let feedPaths = ["", "/topics/harbour"].flatMap { scope in ["json", "atom", "rss"].map { "\(scope)/feed.\($0)" } }

/// The commands of `docs/newsroom.md`, and what readers and clients see after each of them.
@Suite struct NewsroomTests {
  private static let hasPrograms = ["curl", "jq"].allSatisfy { name in
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)")
  }

  /// The public state after the commands under a heading.
  private struct Stage {
    /// The status of the item and of its picture.
    var status: Int
    var pictureStatus: Int
    /// The changes in the step, as `put` or `remove`.
    var changes: [String] = []
    /// The numbers of items that a polling client inserts, updates and removes.
    var counts = [0, 0, 0]
  }

  /// The stages by heading. Headings without one have no item yet.
  private static let stages = [
    "Draft": Stage(status: 404, pictureStatus: 404),
    "Review": Stage(status: 404, pictureStatus: 404),
    "Schedule": Stage(status: 404, pictureStatus: 404),
    "Publication": Stage(status: 200, pictureStatus: 200, changes: ["put"], counts: [1, 0, 0]),
    "Correction": Stage(status: 200, pictureStatus: 200, changes: ["put"], counts: [0, 1, 0]),
    "Withdrawal": Stage(status: 404, pictureStatus: 404, changes: ["remove"], counts: [0, 0, 1]),
    "Second publication": Stage(status: 200, pictureStatus: 200, changes: ["put"], counts: [1, 0, 0]),
    "Alert": Stage(status: 200, pictureStatus: 200),
    "Retraction": Stage(status: 410, pictureStatus: 410, changes: ["remove"], counts: [0, 0, 1]),
    "Taking down": Stage(status: 410, pictureStatus: 410),
  ]

  @Test(
    "Each step of a newsroom's day is visible once in changes, lists, feeds and at a client, and nowhere before",
    .enabled(if: hasPrograms, "needs curl and jq"))
  func day() async throws {
    let text = try String(contentsOf: Project.root.appending(path: "docs/newsroom.md"), encoding: .utf8)
    let blocks = ShellDocument(text).blocks
    #expect(Set(blocks.map(\.heading)).isSuperset(of: Self.stages.keys))
    try await withMediaFolder { media in
      try await Installation.with { installation in
        let key = try await installation.makeKey()
        let changes = ["TIDINGS_MEDIA_DIRECTORY": media.path, "TIDINGS_PUBLIC_URL": "https://news.example"]
        try await installation.serve(changes: changes) { server in
          let topic = try await server.send("POST", "/v1/editorial/topics", key: key, body: #"{"slug": "harbour"}"#)
          try #require(topic.status == 201)
          let other = #"{"title": "Fog lifts", "text": "The harbour is open.", "topics": ["harbour"]}"#
          try #require(try await server.send("POST", "/v1/editorial/items", key: key, body: other).status == 201)
          try await Self.follow(blocks, server, installation)
        }
      }
    }
  }

  /// Runs all blocks and checks the stage after each heading.
  private static func follow(
    _ blocks: [ShellDocument.Block], _ server: RunningServer, _ installation: Installation
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-newsroom-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try SampleMedia.png().write(to: folder.appending(path: "ferry.png"))
    let programs = URL(filePath: ChildProcess.tidings).deletingLastPathComponent().path
    let environment = installation.environment(["PATH": programs + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
    let reader = Reader(server: server, folder: folder)
    try await reader.begin()
    for (number, block) in blocks.enumerated() {
      let script = block.script.replacing("http://127.0.0.1:8080", with: server.client.url)
      let output = try await ShellDocument.run(script, in: folder, environment: environment)
      if let expected = block.output { #expect(output == expected, "\(block.heading)") }
      let isLast = number + 1 == blocks.count || blocks[number + 1].heading != block.heading
      guard isLast, let stage = stages[block.heading] else { continue }
      let names = try await ShellDocument.run(#"echo "$id $file""#, in: folder, environment: environment)
        .split(whereSeparator: \.isWhitespace)
      try #require(names.count == 2)
      try await reader.check(stage, id: String(names[0]), file: String(names[1]), block.heading)
    }
  }

  /// A reader who polls, with the client's command as well.
  private final class Reader {
    private let server: RunningServer
    private let folder: URL
    private var tokens: [String: SyncToken] = [:]

    init(server: RunningServer, folder: URL) {
      self.server = server
      self.folder = folder
    }

    /// Takes the snapshots from which the reader follows.
    func begin() async throws {
      for scope in ["", "&topics=harbour"] { _ = try await changes(in: scope) }
      #expect(try await fetch() == [1, 0, 0])
    }

    /// Returns the changes since the last call.
    private func changes(in scope: String) async throws -> [Change] {
      let since = tokens[scope].map { "&since=\($0)" } ?? ""
      let list = try await server.send("GET", "/v1/changes?limit=100\(scope)\(since)").json(ChangeList.self)
      tokens[scope] = list.token
      return list.changes
    }

    /// Returns the numbers of items that a fetch of the client's command inserts, updates and removes.
    private func fetch() async throws -> [Int] {
      let store = folder.appending(path: "store").path
      let arguments = ["--server", server.client.url, "--store", store, "fetch", "--json"]
      let environment = ["PATH": "/usr/bin:/bin", "TZ": "UTC", "HOME": folder.path]
      let result = try await ChildProcess(
        arguments, executable: ChildProcess.tidings + "-fetch", environment: environment
      ).result()
      let report = try NewsJSON.decode(FetchReport.self, from: Data(result.output.utf8))
      #expect(report.result != .failed, "\(report.error ?? result.errors)")
      #expect((report.result == .newData) == (report.inserted + report.updated + report.removed > 0))
      return [report.inserted, report.updated, report.removed]
    }

    /// Checks what is public after a step. A second look finds nothing new.
    func check(_ stage: Stage, id: String, file: String, _ heading: String) async throws {
      #expect(try await server.status("/v1/items/\(id)") == stage.status, "\(heading)")
      #expect(try await server.status("/v1/media/\(file)") == stage.pictureStatus, "\(heading)")
      for scope in ["", "&topics=harbour"] {
        let changes = try await changes(in: scope).map { change -> String in
          switch change {
          case .put(let item): item.id.uuidString.lowercased() == id ? "put" : "another item"
          case .remove(let removed, _): removed.uuidString.lowercased() == id ? "remove" : "another item"
          case .unknown: "unknown"
          }
        }
        #expect(changes == stage.changes, "\(heading)\(scope)")
        #expect(try await self.changes(in: scope).isEmpty, "\(heading)\(scope)")
      }
      #expect(try await fetch() == stage.counts, "\(heading)")
      #expect(try await fetch() == [0, 0, 0], "\(heading)")

      let expected = stage.status == 200 ? 1 : 0
      for target in ["/v1/items", "/v1/items?topics=harbour", "/v1/items?q=ferry"] {
        let items = try await server.send("GET", target).json(ItemList.self).items
        #expect(items.count { $0.id.uuidString.lowercased() == id } == expected, "\(heading): \(target)")
      }
      let topics = try await server.send("GET", "/v1/topics").text
      #expect(topics.contains(#""items":\#(1 + expected),"#), "\(heading): \(topics)")
      for path in feedPaths {
        let feed = try await server.send("GET", path)
        #expect(feed.status == 200)
        // The title is in no other part of an entry.
        #expect(feed.text.components(separatedBy: "Night ferry returns").count - 1 == expected, "\(heading): \(path)")
        #expect(feed.text.contains(id) || expected == 0, "\(heading): \(path)")
      }
    }
  }
}
