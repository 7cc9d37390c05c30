import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A process that serves, and a client of it.
struct RunningServer: Sendable {
  /// A line of the log.
  struct LogLine: Decodable {
    var time: String
    var level: String
    var message: String
    var source: String
    var metadata: [String: String]

    init?(_ line: String) {
      guard let line = try? JSONDecoder().decode(LogLine.self, from: Data(line.utf8)) else { return nil }
      self = line
    }
  }

  let process: ChildProcess
  let port: Int
  private let session: URLSession

  /// Waits until the process says that it listens.
  init(_ process: ChildProcess) async throws {
    var before: [String] = []
    for await line in process.errorLines {
      before.append(line)
      guard let line = LogLine(line), line.message == "listening" else { continue }
      guard let address = line.metadata["address"], let port = address.split(separator: ":").last.flatMap({ Int($0) })
      else { throw Unexpected(description: "the line has no address: \(line)") }
      self.process = process
      self.port = port
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCache = nil
      session = URLSession(configuration: configuration)
      return
    }
    throw Unexpected(description: "the server ended before it listened:\n" + before.joined(separator: "\n"))
  }

  /// An answer; the names of its fields are in lower case.
  struct Answer: Sendable {
    var status: Int
    var text: String
    var headers: [String: String]
  }

  /// Sends a request and waits for its answer.
  func send(
    _ method: String, _ path: String, key: String? = nil, body: String? = nil
  ) async throws -> Answer {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else {
      throw Unexpected(description: "no URL: \(path)")
    }
    var request = URLRequest(url: url)
    request.httpMethod = method
    if let key { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
    if let body {
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      request.httpBody = Data(body.utf8)
    }
    let (data, response) = try await session.data(for: request)
    guard let response = response as? HTTPURLResponse else { throw Unexpected(description: "no answer of HTTP") }
    var headers: [String: String] = [:]
    for case (let name as String, let value as String) in response.allHeaderFields {
      headers[name.lowercased()] = value
    }
    return Answer(status: response.statusCode, text: String(decoding: data, as: UTF8.self), headers: headers)
  }

  func status(_ path: String) async throws -> Int { try await send("GET", path).status }

  /// Whether the port takes connections.
  func isListening() throws -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Unexpected(description: "no socket") }
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
