import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// Decodes content codings of files (RFC 9110, section 8.4.1).
enum ContentDecoder {
  private static let chunkBytes = 64 << 10

  /// Returns the name of a coding that can be decoded; nil for other codings.
  static func name(_ coding: String) -> String? { ["gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"][coding] }

  /// Decodes a file.
  ///
  /// - Parameters:
  ///   - coding: The name of the coding.
  ///   - write: Receives the content in parts. What it throws ends the decoding.
  /// - Throws: ``FetchError`` with `unexpectedResponse` if the file does not have the coding.
  static func decode(_ file: URL, coding: String, _ write: (Data) throws -> Void) throws {
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    // The decoder is a handler of NIO. This channel has no connection.
    let channel = EmbeddedChannel(handler: NIOHTTPResponseDecompressor(limit: .none))
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    func process(_ part: HTTPClientResponsePart) throws {
      do { try channel.writeInbound(part) } catch {
        throw FetchError(
          .unexpectedResponse, "the content cannot be unpacked (\(coding)): \(ConnectionFailure.reason(error))")
      }
      while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
        if case .body(let bytes) = part { try write(Data(bytes.readableBytesView)) }
      }
    }
    try process(.head(HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Encoding": coding])))
    while let chunk = try handle.read(upToCount: chunkBytes), !chunk.isEmpty {
      try process(.body(ByteBuffer(bytes: chunk)))
    }
    try process(.end(nil))
  }
}
