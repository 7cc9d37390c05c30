import Foundation
import NIOCore
import NIOHTTP1

/// A response as it was received, ready to be sent again.
struct RecordedResponse: Sendable {
  let head: HTTPResponseHead
  let body: ByteBuffer
  /// The whole response.
  let bytes: ByteBuffer

  struct Malformed: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// Reads a file that contains a status line, fields, an empty line and the body. Lines end with CR LF.
  init(contentsOf file: URL) throws {
    let data = try Data(contentsOf: file)
    guard let end = data.range(of: Data("\r\n\r\n".utf8)) else {
      throw Malformed("\(file.path) has no end of the head")
    }
    var lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    guard let status = Int(lines.removeFirst().split(separator: " ").dropFirst().first ?? "") else {
      throw Malformed("\(file.path) does not begin with a status line")
    }
    var headers = HTTPHeaders()
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else { throw Malformed("\(file.path) has the line \(line)") }
      headers.add(
        name: String(line[..<colon]),
        value: line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
    }
    // The encoder would add chunk framing around the recorded chunks.
    if headers.contains(name: "transfer-encoding") { throw Malformed("\(file.path) has a body in chunks") }
    head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
    body = ByteBuffer(bytes: data[end.upperBound...])
    bytes = ByteBuffer(bytes: data)
  }
}
