import Foundation
import TestKit

/// A process that serves, with a client for it.
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
  /// A client of the server.
  package let client: TestClient

  /// Waits until the process logs that it listens; kills it after two minutes if it does not.
  package init(_ process: ChildProcess) async throws {
    let limit = Task {
      try await Task.sleep(for: .seconds(120))
      process.send(SIGKILL)
    }
    defer { limit.cancel() }
    var before: [String] = []
    for await line in process.errorLines {
      before.append(line)
      guard let line = LogLine(line), line.message == "listening" else { continue }
      guard let address = line.metadata["address"], let port = address.split(separator: ":").last.flatMap({ Int($0) })
      else { throw TestResponse.Unexpected(description: "the line has no address: \(line)") }
      self.process = process
      self.port = port
      client = TestClient(url: "http://\(address)")
      return
    }
    throw TestResponse.Unexpected(
      description: "the server ended before it listened:\n" + before.joined(separator: "\n"))
  }

  /// Sends a request and waits for the response.
  package func send(
    _ method: String, _ path: String, key: String? = nil, headers: [(String, String)] = [], body: String? = nil
  ) async throws -> TestResponse {
    try await client.send(method, path, key: key, headers: headers, body: body)
  }

  package func status(_ path: String) async throws -> Int { try await send("GET", path).status }

  /// Whether the port accepts connections.
  package func isListening() -> Bool {
    guard let descriptor = try? Loopback.connect(to: port) else { return false }
    close(descriptor)
    return true
  }
}
