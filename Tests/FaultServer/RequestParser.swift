import Foundation
import NIOCore

/// Parses requests. It is lenient, because the tests check the requests of clients themselves.
struct RequestParser {
  private enum Framing {
    case length(Int)
    case chunked
  }

  private var buffer = ByteBuffer()
  private var head: FaultRequest?

  /// Whether the client waits for `100 Continue` before it sends its body (RFC 9110 section 10.1.1).
  private(set) var expectsContinue = false

  mutating func feed(_ bytes: ByteBuffer) {
    var bytes = bytes
    buffer.writeBuffer(&bytes)
  }

  mutating func hasContinued() { expectsContinue = false }

  /// Returns the next complete request; nil if there is none yet.
  ///
  /// - Parameter arrival: A function that returns the current time; called when a head is complete.
  mutating func next(connection: Int, arrival: () -> Duration) -> FaultRequest? {
    if head == nil {
      guard let end = buffer.readableBytesView.firstRange(of: "\r\n\r\n".utf8)?.upperBound,
        let text = buffer.readString(length: end - buffer.readerIndex)
      else { return nil }
      head = Self.head(text, connection: connection, arrival: arrival())
      expectsContinue = head?["Expect"]?.lowercased() == "100-continue"
    }
    guard var request = head, let body = body(of: request) else { return nil }
    request.body = body
    head = nil
    expectsContinue = false
    return request
  }

  private static func head(_ text: String, connection: Int, arrival: Duration) -> FaultRequest {
    let lines = text.components(separatedBy: "\r\n")
    let start = lines[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    let fields = lines.dropFirst().filter { !$0.isEmpty }.map { line in
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      return (name: String(parts[0]), value: parts.count < 2 ? "" : parts[1].trimmingCharacters(in: .whitespaces))
    }
    return FaultRequest(
      connection: connection, method: start[0], target: start.count > 1 ? start[1] : "",
      version: start.count > 2 ? start[2] : "", headers: fields, arrival: arrival)
  }

  private mutating func body(of request: FaultRequest) -> Data? {
    if request["Transfer-Encoding"]?.lowercased() == "chunked" { return chunkedBody() }
    return buffer.readBytes(length: max(0, Int(request["Content-Length"] ?? "") ?? 0)).map { Data($0) }
  }

  /// Returns nil until the last chunk has arrived. Each attempt parses from the first chunk again.
  private mutating func chunkedBody() -> Data? {
    var rest = buffer
    var body = Data()
    while let end = rest.readableBytesView.firstRange(of: "\r\n".utf8)?.lowerBound,
      let line = rest.readString(length: end - rest.readerIndex)
    {
      rest.moveReaderIndex(forwardBy: 2)
      let size = Int(line.prefix { $0 != ";" }, radix: 16) ?? 0
      guard let chunk = rest.readBytes(length: size), rest.readBytes(length: 2) != nil else { return nil }
      body += chunk
      if size == 0 {
        buffer = rest
        return body
      }
    }
    return nil
  }
}
