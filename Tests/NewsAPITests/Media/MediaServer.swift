import Crypto
import Foundation
import MediaFiles
import News
import NewsAPI
import NewsStore
import TestSupport

/// A server that stores files in its own folder.
struct MediaServer: Sendable {
  let server: TestServer
  /// A key for files and items.
  let key: String
  let folder: URL
  let storage: MediaDirectory

  static func with<Value: Sendable>(
    settings change: @Sendable (inout NewsAPI.Settings) -> Void = { _ in },
    _ body: @Sendable (MediaServer) async throws -> Value
  ) async throws -> Value {
    try await withMediaFolder { folder in
      let storage = try MediaDirectory(folder)
      return try await TestServer.with(
        settings: {
          $0.media = storage
          change(&$0)
        },
        { server in
          let key = try await server.store.createKey(name: "desk", permissions: [.itemsPublish, .mediaWrite])
          return try await body(MediaServer(server: server, key: key, folder: folder, storage: storage))
        })
    }
  }

  var library: MediaLibrary { MediaLibrary(store: server.store, storage: storage) }

  func upload(
    _ file: Data, type: String = "image/png", _ headers: (String, String)...
  ) async throws -> TestResponse {
    try await server.send(
      "POST", "/v1/editorial/media", key: key, headers: [("Content-Type", type)] + headers, file: file)
  }

  /// Uploads a file and returns its path.
  func stored(_ file: Data, type: String = "image/png") async throws -> String {
    try await upload(file, type: type).json(Attachment.self, status: 201).url
  }

  /// Uploads a file, publishes an item with it, and returns the path of the file.
  func published(_ file: Data, type: String = "image/png") async throws -> String {
    let path = try await stored(file, type: type)
    _ = try await item(#""attachments": [{"url": "\#(path)", "type": "\#(type)"}]"#).json(
      EditorialItem.self, status: 201)
    return path
  }

  /// Requests a file as an editor, who also gets those that readers cannot get.
  ///
  /// - Parameter path: The public path of the file.
  func preview(_ path: String, _ headers: (String, String)...) async throws -> TestResponse {
    let target = path.replacing("/v1/media/", with: "/v1/editorial/media/")
    return try await server.send("GET", target, key: key, headers: headers)
  }

  func item(_ fields: String) async throws -> TestResponse {
    try await server.send(
      "POST", "/v1/editorial/items", key: key, body: #"{"date": "2026-01-01T00:00:00Z", "text": "x", \#(fields)}"#)
  }
}

extension Data {
  var digestField: String { "sha-256=:\(Data(SHA256.hash(data: self)).base64EncodedString()):" }
}
