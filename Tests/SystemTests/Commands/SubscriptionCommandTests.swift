import FaultServer
import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite struct SubscriptionCommandTests {
  private static let settings = ["TIDINGS_ALLOWED_NETWORKS": "127.0.0.1"]

  private static func samples() throws -> [String: Data] {
    let folder = URL(filePath: FileManager.default.currentDirectoryPath).appending(path: "Samples")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }
    return try Dictionary(
      uniqueKeysWithValues: names.map { ("/" + $0, try Data(contentsOf: folder.appending(path: $0))) })
  }

  @Test("Following feeds gives the same items as importing their files")
  func sameAsImport() async throws {
    let samples = try Self.samples()
    #expect(samples.count == 2)
    try await FaultServer.with({ samples[$0.path].map { FaultResponse(body: $0) } ?? FaultResponse(status: 404) }) {
      server in
      let imported = try await Installation.with { installation in
        #expect(try await installation.run("import", "Samples").status == 0)
        return try await installation.run("export").output
      }
      try await Installation.with { installation in
        for path in samples.keys.sorted() {
          let added = try await installation.run(
            "subscriptions", "add", "\(server.url)\(path)", changes: Self.settings)
          #expect(added.status == 0, "\(added.errors)")
        }
        let followed = try await installation.run("export").output
        #expect(!imported.isEmpty)
        #expect(Self.withoutMoments(followed) == Self.withoutMoments(imported))
      }
    }
  }

  @Test(
    "Following real feeds from nginx gives the same items as importing their files", .enabled(if: StaticFiles.areReal))
  func realFeeds() async throws {
    let folder = StaticFiles.realFeeds
    let imported = try await Installation.with { installation in
      #expect(try await installation.run("import", folder.path).status == 0)
      return try await installation.run("export").output
    }
    #expect(imported.split(separator: "\n").count > 100)
    try await StaticFiles.serve(folder) { url in
      try await Installation.with { installation in
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        where name.hasPrefix("swift-blog.") {
          let added = try await installation.run("subscriptions", "add", "\(url)/\(name)", changes: Self.settings)
          #expect(added.status == 0, "\(added.errors)")
        }
        let followed = try await installation.run("export").output
        #expect(Self.withoutMoments(followed) == Self.withoutMoments(imported))
      }
    }
  }

  /// The lines of an export without the times at which this installation has written.
  private static func withoutMoments(_ export: String) -> [String] {
    export.split(separator: "\n").map { String($0).replacing(/"(updated|exported)":"[^"]*",?/, with: "") }.sorted()
  }

  @Test("The password of a feed is in no output and no export, and with another key the feed is paused with a reason")
  func password() async throws {
    let right = "Basic " + Data("ann:s3cret".utf8).base64EncodedString()
    let feed = Data(
      "<rss version='2.0'><channel><title>x</title><item><title>a</title><guid>1</guid></item></channel></rss>".utf8)
    try await FaultServer.with({ $0["Authorization"] == right ? FaultResponse(body: feed) : FaultResponse(status: 401) }
    ) {
      server in
      try await Installation.with { installation in
        let url = "\(server.url)/feed".replacing("://", with: "://ann:s3cret@")
        let refused = try await installation.run("subscriptions", "add", url, changes: Self.settings)
        #expect(refused.status == 1 && refused.errors.contains("TIDINGS_FEED_PASSWORD_KEY"))
        var settings = Self.settings
        settings["TIDINGS_FEED_PASSWORD_KEY"] = NewsDatabase.passwordKey
        let added = try await installation.run("subscriptions", "add", url, changes: settings)
        #expect(added.status == 0, "\(added.errors)")
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data("s3cret\n".utf8).write(to: file)
        let second = try await installation.run(
          "subscriptions", "add", "\(server.url)/second", "--feed-user", "ann", "--password-file", file.path,
          changes: settings)
        try FileManager.default.removeItem(at: file)
        #expect(second.status == 0, "\(second.errors)")
        var outputs = [refused, added, second]
        for arguments in [["subscriptions", "list"], ["subscriptions", "export"], ["export", "--all"], ["export"]] {
          let result = try await ChildProcess(
            arguments, environment: installation.environment(settings), input: "/dev/null"
          ).result()
          #expect(result.status == 0, "\(arguments): \(result.errors)")
          outputs.append(result)
        }
        let id = added.output.trimmingCharacters(in: .newlines)
        let unset = try await installation.run("subscriptions", "poll", id, changes: Self.settings)
        #expect(unset.status == 1 && unset.errors.contains("TIDINGS_FEED_PASSWORD_KEY is not set"), "\(unset.errors)")
        settings["TIDINGS_FEED_PASSWORD_KEY"] = Data(repeating: 7, count: 32).base64EncodedString()
        let poll = try await installation.run("subscriptions", "poll", changes: settings)
        #expect(poll.status == 1 && poll.errors.contains("another TIDINGS_FEED_PASSWORD_KEY"))
        let list = try await installation.run("subscriptions", "list", changes: settings)
        #expect(list.output.contains("\tpaused\t"))
        outputs += [unset, poll, list]
        #expect(outputs.allSatisfy { !($0.output + $0.errors).contains("s3cret") })
        settings["TIDINGS_FEED_PASSWORD_KEY"] = "short"
        #expect(try await installation.run("subscriptions", "list", changes: settings).errors.contains("32 bytes"))
      }
    }
  }

  @Test("A subscription is added once, listed, followed by the server and removed")
  func life() async throws {
    try await FaultServer.with { server in
      try await Installation.with { installation in
        let url = "\(server.url)/feed"
        let added = try await installation.run("subscriptions", "add", "\(url)#top", changes: Self.settings)
        #expect(added.status == 1 && added.errors.contains("the status 404"))
        let id = added.output.trimmingCharacters(in: .newlines)
        #expect(UUID(uuidString: id) != nil)
        let again = try await installation.run("subscriptions", "add", url, changes: Self.settings)
        #expect(again.status == 1 && again.errors.contains(id))
        let listed = try await installation.run("subscriptions", "list").output
        #expect(listed.hasPrefix("\(id)\t\(url)\tpublished\t\t20") && listed.hasSuffix("the status 404\t\n"))
        server.respond { request in
          request.path == "/feed"
            ? FaultResponse(body: Data(Self.page.utf8)) : FaultResponse(body: Data(Self.feed.utf8))
        }
        let polled = try await installation.run("subscriptions", "poll", id, changes: Self.settings)
        #expect(polled.status == 0 && polled.output == "\(id)\tinserted 1, updated 0\n", "\(polled.errors)")
        #expect(try await installation.run("subscriptions", "list").output.contains("\(server.url)/news.rss\t"))
        server.respond { _ in .busy(retryAfter: .seconds(600)) }
        for reason in ["the server has answered with the status 503", "its server asks for no request before 20"] {
          let busy = try await installation.run("subscriptions", "poll", changes: Self.settings)
          #expect(busy.status == 1 && busy.output == "" && busy.errors.contains("tidings: \(id): \(reason)"))
        }
        #expect(server.requests.count == 4, "the second one must not be sent")
        #expect(try await installation.run("subscriptions", "remove", id).status == 0)
        #expect(try await installation.run("subscriptions", "remove", id).status == 1)
        #expect(try await installation.run("subscriptions", "list").output == "")
      }
    }
  }

  private static let page = #"<html><link rel="alternate" type="application/rss+xml" href="/news.rss"></html>"#
  private static let feed = """
    <rss version="2.0"><channel><title>Port</title><item><guid>1</guid><title>A ship</title>
    <pubDate>Mon, 02 Feb 2026 02:40:00 GMT</pubDate></item></channel></rss>
    """

  @Test("The feeds of a reader are imported from OPML with their folders as topics, once, and exported again")
  func lists() async throws {
    let list = """
      <?xml version="1.0"?><opml version="2.0"><head><title>Mine</title></head><body>
      <outline text="Boats &amp; Ships">
      <outline type="rss" text="Port" language="de" xmlUrl="https://port.example/feed"/></outline>
      <outline type="rss" text="Sea" xmlUrl="https://sea.example/feed"/>
      <outline type="rss" text="Old" xmlUrl="https://old.example:70000/feed"/>
      <outline type="rss" text="No\u{202E}where" xmlUrl="gopher://nowhere.example/"/></body></opml>
      """
    let large = list + String(repeating: " ", count: 8 << 20)
    try await withFolder(["list.opml": list, "feed.xml": Self.feed, "large.opml": large]) { folder in
      let file = folder.appending(path: "list.opml").path
      try await Installation.with { installation in
        let imported = try await installation.run("subscriptions", "import", file, "--state", "draft")
        #expect(imported.status == 0 && imported.output == "read 4, added 2, skipped 2\n", "\(imported.errors)")
        #expect(imported.errors.contains("Nowhere") && imported.errors.lowercased().contains("old"))
        let listed = try await installation.run("subscriptions", "list").output.split(separator: "\n")
        #expect(listed.count == 2 && listed.allSatisfy { $0.contains("\tdraft\t") })
        #expect(listed.first?.contains("\tboats-ships\t") == true && listed.first?.hasSuffix("\tPort") == true)

        let again = try await installation.run("subscriptions", "import", "-", input: file)
        #expect(again.status == 0 && again.output == "read 4, added 0, skipped 4\n")
        #expect(again.errors.contains("https://port.example/feed") && again.errors.contains("has this address already"))

        let exported = try await installation.run("subscriptions", "export")
        #expect(exported.status == 0 && exported.output.contains(#"language="de""#), "\(exported.output)")
        #expect(exported.output.hasSuffix("</opml>\n"))
        try await withFolder(["exported.opml": exported.output]) { other in
          try await Installation.with { second in
            let path = other.appending(path: "exported.opml").path
            #expect(try await second.run("subscriptions", "import", path).output == "read 2, added 2, skipped 0\n")
            #expect(try await second.run("subscriptions", "export").output.contains("Boats &amp; Ships"))
            // A folder has the title in the language of the feed.
            _ = try await second.sql.query(
              #"UPDATE topics SET titles = titles || '{"ar": "Other", "de": "Boote"}'::jsonb"#)
            let titled = try await second.run("subscriptions", "export").output
            #expect(titled.contains(#"<outline text="Boote""#), "\(titled)")
            let topics = try await second.run("subscriptions", "import", path, "--topics", "nowhere")
            #expect(topics.status == 1 && topics.output == "" && topics.errors.contains("nowhere"))
          }
        }
        for (path, reason) in [
          (folder.appending(path: "feed.xml").path, "not OPML"), ("/nowhere.opml", "cannot be read"),
          (folder.appending(path: "large.opml").path, "more than 8388608 bytes"),
        ] {
          let failed = try await installation.run("subscriptions", "import", path)
          #expect(failed.status == 1 && failed.output == "" && failed.errors.contains(reason), "\(failed.errors)")
        }
      }
    }
  }

  @Test("A password in an OPML file is taken out of its address, and without a key only that feed is skipped")
  func passwordInList() async throws {
    let list = """
      <opml version="2.0"><body><outline type="rss" text="Port" xmlUrl="https://ann:s3cret@port.example/feed"/>
      <outline type="rss" text="Sea" xmlUrl="https://sea.example/feed"/></body></opml>
      """
    try await withFolder(["list.opml": list]) { folder in
      let file = folder.appending(path: "list.opml").path
      try await Installation.with { installation in
        let refused = try await installation.run("subscriptions", "import", file)
        #expect(refused.status == 0 && refused.output == "read 2, added 1, skipped 1\n", "\(refused.errors)")
        #expect(refused.errors.contains("https://port.example/feed is skipped: "), "\(refused.errors)")
        #expect(refused.errors.contains("TIDINGS_FEED_PASSWORD_KEY"))
        let changes = ["TIDINGS_FEED_PASSWORD_KEY": NewsDatabase.passwordKey]
        let added = try await installation.run("subscriptions", "import", file, changes: changes)
        #expect(added.status == 0 && added.output == "read 2, added 1, skipped 1\n", "\(added.errors)")
        #expect(!(refused.errors + added.errors).contains("s3cret"))
        let stored: String = try await installation.value(
          "SELECT string_agg(concat_ws(' ', url, user_name), ',' ORDER BY url) FROM subscriptions")
        #expect(stored == "https://port.example/feed ann,https://sea.example/feed")
      }
    }
  }

  @Test("An address that is not allowed is not requested")
  func refused() async throws {
    try await FaultServer.with { server in
      try await Installation.with { installation in
        let added = try await installation.run("subscriptions", "add", "\(server.url)/feed")
        #expect(added.status == 1 && added.errors.contains("loopback address"))
        // A password in an address is taken out of it, and needs a key.
        let secret = try await installation.run("subscriptions", "add", "https://u:p@feeds.example/")
        #expect(secret.status == 1 && secret.errors.contains("TIDINGS_FEED_PASSWORD_KEY"))
        let topics = try await installation.run(
          "subscriptions", "add", "https://feeds.example/", "--topics", "nowhere")
        #expect(topics.status == 1 && topics.output == "")
        #expect(topics.errors.contains("--topics must be existing topics; not found: nowhere"), "\(topics.errors)")
        // Nothing is sent to this address in either case, because its port is not allowed.
        let plain = "http://1.1.1.1:25/"
        let insecure = try await installation.run("subscriptions", "add", plain)
        #expect(insecure.status == 1 && insecure.errors.contains("https is required"), "\(insecure.errors)")
        let allowed = try await installation.run(
          "subscriptions", "poll", insecure.output.trimmingCharacters(in: .newlines),
          changes: ["TIDINGS_ALLOW_PLAIN_HTTP": "true"])
        #expect(allowed.status == 1 && allowed.errors.contains("port 25 is not allowed"), "\(allowed.errors)")
        #expect(server.connections == 0)
      }
    }
  }
}
