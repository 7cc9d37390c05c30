import FaultServer
import Foundation
import News
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

  /// The lines of an export without the times at which this installation has written.
  private static func withoutMoments(_ export: String) -> [String] {
    export.split(separator: "\n").map { String($0).replacing(/"(updated|exported)":"[^"]*",?/, with: "") }.sorted()
  }

  @Test("A subscription is added once, listed, followed by the server and removed")
  func life() async throws {
    try await FaultServer.with { server in
      try await Installation.with { installation in
        let url = "\(server.url)/feed"
        let added = try await installation.run("subscriptions", "add", url, changes: Self.settings)
        #expect(added.status == 1 && added.errors.contains("the status 404"))
        let id = added.output.trimmingCharacters(in: .newlines)
        #expect(UUID(uuidString: id) != nil)
        let again = try await installation.run("subscriptions", "add", url, changes: Self.settings)
        #expect(again.status == 1 && again.errors.contains(id))
        let listed = try await installation.run("subscriptions", "list").output
        #expect(listed.hasPrefix("\(id)\t\(url)\tpublished\t\t20") && listed.contains("the status 404"))
        #expect(try await installation.run("subscriptions", "remove", id).status == 0)
        #expect(try await installation.run("subscriptions", "remove", id).status == 1)
        #expect(try await installation.run("subscriptions", "list").output == "")
      }
    }
  }

  @Test("An address that is not allowed is not requested")
  func refused() async throws {
    try await FaultServer.with { server in
      try await Installation.with { installation in
        let added = try await installation.run("subscriptions", "add", "\(server.url)/feed")
        #expect(added.status == 1 && added.errors.contains("loopback address"))
        let invalid = try await installation.run("subscriptions", "add", "https://u:p@feeds.example/")
        #expect(invalid.status == 1 && invalid.errors.contains("user name"))
        #expect(server.connections == 0)
      }
    }
  }
}
