import Foundation
import News
import TestKit
import TestSupport
import Testing

/// A folder with eight old files, six of which items use, and the installation that has stored them.
struct FileArchive: Sendable {
  static let used = (1...6).map { SampleMedia.png(seed: UInt64($0)) }
  static let unused = (7...8).map { SampleMedia.png(seed: UInt64($0)) }
  static let late = SampleMedia.png(seed: 9)
  static let further = SampleMedia.png(seed: 10)

  let installation: Installation
  let folder: URL
  let key: String
  /// The paths of the used files.
  var paths: [String] = []
  /// The paths of their items.
  var items: [String] = []

  var changes: [String: String] { ["TIDINGS_MEDIA_DIRECTORY": folder.path] }

  /// Fills the folder, which does not exist yet.
  init(_ installation: Installation, _ folder: URL) async throws {
    (self.installation, self.folder) = (installation, folder)
    key = try await Self.key(installation)
    (paths, items) = try await installation.serve(
      changes: ["TIDINGS_MEDIA_DIRECTORY": folder.path]
    ) { [key] server in
      var (paths, items): ([String], [String]) = ([], [])
      for file in Self.used {
        paths.append(try await Self.stored(file, key, server))
        items.append(try await Self.publish(paths[paths.count - 1], key, server))
      }
      for file in Self.unused { _ = try await Self.stored(file, key, server) }
      return (paths, items)
    }
    for name in try names(in: folder) {
      try FileManager.default.setAttributes(
        [.modificationDate: Date() - 10 * 86_400], ofItemAtPath: folder.appending(path: name).path)
    }
  }

  static func digests(_ files: [Data]) -> [String] { files.map(\.sha256).sorted() }

  static func key(_ installation: Installation) async throws -> String {
    try await installation.makeKey(scopes: ["items:publish", "media:write"])
  }

  static func upload(_ file: Data, _ key: String, _ server: RunningServer) async throws -> TestResponse {
    try await server.client.send(
      "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", "image/png")], file: file)
  }

  static func stored(_ file: Data, _ key: String, _ server: RunningServer) async throws -> String {
    try await upload(file, key, server).json(News.Attachment.self, status: 201).url
  }

  /// Publishes an item with a file, and returns the item's path.
  static func publish(_ path: String, _ key: String, _ server: RunningServer) async throws -> String {
    let body = #"{"text": "x", "attachments": [{"url": "\#(path)", "type": "image/png"}]}"#
    let item = try await server.send("POST", "/v1/editorial/items", key: key, body: body)
    return "/v1/editorial/items/" + (try item.json(EditorialItem.self, status: 201).item.id.uuidString.lowercased())
  }

  /// Retracts and erases an item, and with it its file.
  static func erase(_ item: String, _ key: String, _ server: RunningServer) async throws {
    let retracted = try await server.client.send("DELETE", item, key: key, headers: [("If-Match", "*")])
    #expect(retracted.status == 204)
    #expect(try await server.send("POST", item + "/erase", key: key).status == 204)
  }

  /// Runs `purge` for files that are unused for any time.
  static func purge(_ installation: Installation, _ folder: URL) async throws -> ChildProcess.Result {
    try await installation.run(
      "purge", "--older-than", "1d", "--media-unused-for", "0s", changes: ["TIDINGS_MEDIA_DIRECTORY": folder.path])
  }

  /// Expects that an installation neither removes nor accepts files in a folder, says why, and serves everything else.
  static func expectUntouched(_ installation: Installation, _ folder: URL, remedy: String) async throws {
    let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.path]
    let before = try? names(in: folder)
    let purge = try await purge(installation, folder)
    #expect(purge.status == 1 && purge.errors.contains(remedy), "\(purge)")
    #expect(!purge.output.contains("unused file"))
    let doctor = try await installation.run("doctor", changes: changes)
    #expect(doctor.status == 1)
    #expect(doctor.output.contains(/problem +media +uploads are refused/), "\(doctor.output)")
    #expect(doctor.output.contains(remedy), "\(doctor.output)")
    let key = try await key(installation)
    let log = try await installation.serve(changes: changes) { server in
      let refused = try await upload(further, key, server)
      let problem = try refused.json(Problem.self, status: 503)
      #expect(problem.type == "/problems/media-unavailable")
      #expect(problem.detail?.contains(remedy) == true)
      let begun = try await server.client.send(
        "POST", "/v1/editorial/media", key: key,
        headers: [("Content-Type", "image/png"), ("Upload-Draft-Interop-Version", "6"), ("Upload-Complete", "?0")])
      #expect(begun.status == 503)
      #expect(try await server.status("/readyz") == 200)
      #expect(try await server.status("/v1/items") == 200)
      server.process.send(SIGTERM)
      return await server.process.result().errors
    }
    #expect(log.contains("uploads are refused and no file is removed"), "\(log)")
    let after = try? names(in: folder)
    #expect(after == before)
  }
}
