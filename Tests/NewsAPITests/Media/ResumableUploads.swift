import Foundation
import News
import NewsAPI
import NewsStore
import PostgresClient
import TestSupport

/// Requests of an upload that continues over several requests.
extension MediaServer {
  static let uploadVersion = ("Upload-Draft-Interop-Version", "6")

  /// Begins an upload, and returns the response.
  func begin(
    type: String = "image/png", key: String? = nil, _ headers: [(String, String)] = []
  ) async throws -> TestResponse {
    try await server.send(
      "POST", "/v1/editorial/media", key: key ?? self.key,
      headers: [Self.uploadVersion, ("Upload-Complete", "?0"), ("Content-Type", type)] + headers)
  }

  /// Begins an upload, and returns its path.
  func begun(type: String = "image/png", _ headers: [(String, String)] = []) async throws -> String {
    let response = try await begin(type: type, headers)
    guard response.status == 201, let path = response["Location"] else {
      throw TestResponse.Unexpected(description: "\(response.status): \(response.text)")
    }
    return path
  }

  /// Appends bytes to an upload.
  func append(
    _ bytes: Data, to path: String, at offset: Int, isComplete: Bool, _ headers: [(String, String)] = []
  ) async throws -> TestResponse {
    try await server.send(
      "PATCH", path, key: key,
      headers: [
        Self.uploadVersion, ("Upload-Complete", isComplete ? "?1" : "?0"), ("Upload-Offset", "\(offset)"),
        ("Content-Type", "application/partial-upload"),
      ] + headers, file: bytes)
  }

  /// Returns the id of an upload.
  func id(of path: String) throws -> UUID {
    guard let id = UUID(uuidString: String(path.suffix(36))) else {
      throw TestResponse.Unexpected(description: "no id in \(path)")
    }
    return id
  }

  /// Returns the file with the bytes of an upload that have arrived.
  func part(of path: String) -> URL { folder.appending(path: "part-\(path.suffix(36))") }

  /// Cancels an upload, and returns the status.
  func cancel(_ path: String) async throws -> Int {
    try await server.send("DELETE", path, key: key, headers: [Self.uploadVersion]).status
  }

  /// Returns the number of uploads in the database.
  func uploadCount() async throws -> Int { try await server.sql.query("SELECT id FROM media_uploads").count }

  /// Returns the state of an upload.
  func state(of path: String, key: String? = nil) async throws -> TestResponse {
    try await server.send("HEAD", path, key: key ?? self.key, headers: [Self.uploadVersion])
  }

  /// Returns the offset of an upload.
  func offset(of path: String) async throws -> Int? { try await state(of: path)["Upload-Offset"].flatMap { Int($0) } }

  /// Returns the names of the files in the folder that are parts.
  func parts() throws -> [String] { try names(in: folder).filter { $0.hasPrefix("part-") } }

  /// Returns the bytes of a PATCH that declares a length, with less content than that.
  func truncatedAppend(_ bytes: Data, of length: Int, to path: String, at offset: Int) -> Data {
    let head = """
      PATCH \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\nUpload-Draft-Interop-Version: 6\r
      Upload-Offset: \(offset)\r\nUpload-Complete: ?1\r\nContent-Type: application/partial-upload\r
      Content-Length: \(length)\r\n\r\n
      """
    return Data(head.utf8) + bytes
  }
}
