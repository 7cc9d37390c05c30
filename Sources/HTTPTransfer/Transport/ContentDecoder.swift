import Foundation
import HTTPConditions
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

/// Decodes content codings of files (RFC 9110, section 8.4.1).
enum ContentDecoder {
  private static let chunkBytes = 64 << 10

  /// Returns the number of codings on top of each other that a file has.
  ///
  /// - Parameter codings: The declared codings. The first bytes decide whether the file has them.
  /// - Throws: ``FetchError`` with `unexpectedResponse` for compressed data without the zlib format, which is not decoded.
  static func layers(of file: URL, _ codings: DeclaredCodings) throws -> Int {
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    let head = try handle.read(upToCount: chunkBytes) ?? Data()
    let maximum = min(codings.names.count, DeclaredCodings.maximumLayers)
    var (layers, start) = (0, head)
    while layers < maximum,
      DeclaredCodings.isGzip(start) || layers == 0 && codings.isDeflate && DeclaredCodings.isZlib(start)
    {
      layers += 1
      start = beginning(of: head, layers: layers).content
    }
    // Some servers send `deflate` without the format of zlib. Plain bytes are damaged data in this format.
    if layers == 0, codings.isDeflate, !head.isEmpty, !beginning(of: [0x78, 0x9C] + head, layers: 1).isDamaged {
      throw failure("deflate", "the compressed data has no header")
    }
    return layers
  }

  /// Decodes a file.
  ///
  /// - Parameters:
  ///   - layers: The number of codings on top of each other.
  ///   - write: Receives the content in parts. What it throws ends the decoding.
  /// - Throws: ``FetchError`` with `unexpectedResponse` if the file is damaged.
  static func decode(_ file: URL, layers: Int, _ write: (Data) throws -> Void) throws {
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    let channel = channel(layers: layers)
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    func process(_ part: HTTPClientResponsePart) throws {
      do { try channel.writeInbound(part) } catch { throw failure("gzip", ConnectionFailure.reason(error)) }
      while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
        if case .body(let bytes) = part { try write(Data(bytes.readableBytesView)) }
      }
    }
    try process(.head(compressedHead))
    while let chunk = try handle.read(upToCount: chunkBytes), !chunk.isEmpty {
      try process(.body(ByteBuffer(bytes: chunk)))
    }
    try process(.end(nil))
  }

  /// Decodes the beginning of a file.
  ///
  /// - Returns: What it contains below its codings, at most ``chunkBytes`` for each, and whether it is damaged.
  private static func beginning(of bytes: Data, layers: Int) -> (content: Data, isDamaged: Bool) {
    // A few bytes may become gigabytes.
    let channel = channel(layers: layers, limit: .size(chunkBytes))
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    var (content, isDamaged) = (Data(), false)
    for part in [HTTPClientResponsePart.head(compressedHead), .body(ByteBuffer(bytes: bytes))] {
      do { try channel.writeInbound(part) } catch {
        if case .inflationError = error as? NIOHTTPDecompression.DecompressionError { isDamaged = true }
      }
    }
    while let part = try? channel.readInbound(as: HTTPClientResponsePart.self) {
      if case .body(let bytes) = part { content += Data(bytes.readableBytesView) }
    }
    return (content, isDamaged)
  }

  /// A channel without a connection: the decoder is a handler of NIO, which detects the formats gzip and zlib.
  private static func channel(
    layers: Int, limit: NIOHTTPDecompression.DecompressionLimit = .none
  ) -> EmbeddedChannel {
    EmbeddedChannel(handlers: (0..<layers).map { _ in NIOHTTPResponseDecompressor(limit: limit) })
  }

  private static let compressedHead = HTTPResponseHead(
    version: .http1_1, status: .ok, headers: ["Content-Encoding": "gzip"])

  private static func failure(_ coding: String, _ reason: String) -> FetchError {
    FetchError(.unexpectedResponse, "the content cannot be unpacked (\(coding)): \(reason)")
  }
}
