import Foundation

/// A process that serves, and a client of it.
package struct RunningServer: Sendable {
  /// A line of the log.
  package struct LogLine: Decodable {
    package var time: String
    package var level: String
    package var message: String
    package var source: String
    package var metadata: [String: String]

    package init?(_ line: String) {
      guard let line = try? JSONDecoder().decode(LogLine.self, from: Data(line.utf8)) else { return nil }
      self = line
    }
  }

  package let process: ChildProcess
  package let port: Int
  /// A client of it.
  package let client: TestClient

  /// Waits until the process says that it listens.
  package init(_ process: ChildProcess) async throws {
    var before: [String] = []
    for await line in process.errorLines {
      before.append(line)
      guard let line = LogLine(line), line.message == "listening" else { continue }
      guard let address = line.metadata["address"], let port = address.split(separator: ":").last.flatMap({ Int($0) })
      else { throw TestResponse.Unexpected(description: "the line has no address: \(line)") }
      self.process = process
      self.port = port
      client = TestClient(url: "http://127.0.0.1:\(port)")
      return
    }
    throw TestResponse.Unexpected(
      description: "the server ended before it listened:\n" + before.joined(separator: "\n"))
  }

  /// Sends a request and waits for its answer.
  package func send(
    _ method: String, _ path: String, key: String? = nil, body: String? = nil
  ) async throws -> TestResponse {
    try await client.send(method, path, key: key, body: body)
  }

  package func status(_ path: String) async throws -> Int { try await send("GET", path).status }

  /// Whether the port takes connections.
  package func isListening() throws -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw TestResponse.Unexpected(description: "no socket") }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
