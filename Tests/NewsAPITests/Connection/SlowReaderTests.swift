import Foundation
import TestKit
import TestSupport
import Testing

@Suite struct SlowReaderTests {
  @Test("A client that reads nothing occupies little memory of the kernel, and then receives the whole page")
  func unreadPage() async throws {
    try await TestServer.with { server in
      for number in 0..<8 { _ = try await server.publish(String(repeating: "\(number) ", count: 60_000)) }
      let whole = try await server.get("/v1/changes", ("Accept-Encoding", "identity"))
      #expect(whole.body.count > 900_000)
      let connection = try BlockingConnection(port: server.port)
      try connection.send("GET /v1/changes HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("bytes wait in the kernel") { try Self.unsentBytes(to: server.port) > 0 }
      try await Task.sleep(for: .milliseconds(300))
      // The limit of the socket, and a segment of loopback, which has up to 64 KiB.
      #expect(try Self.unsentBytes(to: server.port) < 320 << 10)
      #expect(try connection.response() == whole.body)
    }
  }

  /// Returns the bytes in the send queues of the connections to a port, from /proc/net/tcp: those of the server's side.
  private static func unsentBytes(to port: Int) throws -> Int {
    let local = ":" + String(format: "%04X", port)
    return try ["tcp", "tcp6"].reduce(0) { sum, file in
      let lines = try Self.text("/proc/net/\(file)").split(separator: "\n").dropFirst()
      return sum
        + lines.reduce(0) { sum, line in
          let columns = line.split(separator: " ")
          guard columns.count > 4, columns[1].hasSuffix(local) else { return sum }
          return sum + (Int(columns[4].prefix(8), radix: 16) ?? 0)
        }
    }
  }

  /// Reads a file of the kernel, which returns one page of memory at a time. `String(contentsOfFile:)` takes the first one
  /// for the whole file.
  private static func text(_ path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    var bytes = Data()
    while let part = try file.read(upToCount: 65_536), !part.isEmpty { bytes += part }
    return String(decoding: bytes, as: UTF8.self)
  }
}
