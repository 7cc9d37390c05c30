import Foundation

/// nginx with the configuration of `deploy/nginx` before some servers.
package struct Proxy: Sendable {
  package let client: TestClient
  private let process: ChildProcess
  private let folder: URL

  /// Debian keeps it out of the path of ordinary users.
  private static let executable = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"]
    .map { $0 + "/nginx" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Whether there is an nginx.
  package static var isInstalled: Bool { executable != nil }

  /// Starts it, and waits until it passes requests on.
  ///
  /// - Parameters:
  ///   - servers: Their ports.
  ///   - cache: Whether it keeps answers.
  ///   - isCounted: Whether it remembers requests and can be shut.
  package init(servers: [Int], cache: Bool = true, isCounted: Bool = false) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tidings-nginx.\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let port = try Self.freePort()
    try Self.configuration(folder, port: port, servers: servers, cache: cache, isCounted: isCounted)
      .write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
    process = try ChildProcess(
      [
        "-p", folder.path, "-e", folder.appending(path: "error.log").path, "-c",
        folder.appending(path: "nginx.conf").path,
      ], executable: Self.executable ?? "nginx",
      environment: ["PATH": "/usr/bin:/bin"])
    client = TestClient(url: "http://127.0.0.1:\(port)", isProxy: true)
    let end = ContinuousClock.now + .seconds(30)
    while true {
      do {
        if try await client.send("GET", "/healthz").status == 200 { return }
      } catch {
        guard ContinuousClock.now < end else {
          // Its workers end with it only if it is asked.
          process.send(SIGTERM)
          throw TestResponse.Unexpected(
            description: "nginx does not answer: \(error); \(await process.result().errors)")
        }
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  package func end() async {
    process.send(SIGTERM)
    _ = await process.result()
    try? FileManager.default.removeItem(at: folder)
  }

  /// A request as its log has it.
  package struct Request: Sendable {
    package let target: String
    package let isConditional: Bool
    package let status: Int
  }

  /// The requests so far of one that counts; those of this process to see whether it answers are among them.
  package var requests: [Request] {
    get throws {
      let lines = try String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8).split(separator: "\n")
      return lines.compactMap { line in
        let fields = line.split(separator: " ")
        return Request(target: String(fields[0]), isConditional: fields.last != "--", status: Int(fields[1]) ?? 0)
      }
    }
  }

  /// How long one that is closed keeps clients away, in seconds.
  package static let retryAfter = 7200

  /// Answers with 503 and `Retry-After` from now on.
  package func shut() throws { try Data().write(to: folder.appending(path: "closed")) }

  /// Passes requests on again.
  package func reopen() throws { try FileManager.default.removeItem(at: folder.appending(path: "closed")) }

  private static func configuration(
    _ folder: URL, port: Int, servers: [Int], cache: Bool, isCounted: Bool
  ) throws -> String {
    let template = try String(
      contentsOf: Project.root.appending(path: "deploy/nginx/tidings.conf.template"), encoding: .utf8)
    let variables = [
      "TIDINGS_SERVERS": servers.map { "server 127.0.0.1:\($0);" }.joined(separator: " "),
      "TIDINGS_LISTEN": "127.0.0.1:\(port)", "TIDINGS_CACHE": cache ? "tidings" : "off",
      "TIDINGS_CACHE_PATH": folder.appending(path: "cache").path,
    ]
    var rendered = variables.reduce(template) { $0.replacing("${\($1.key)}", with: $1.value) }
    if isCounted {
      let listen = "listen 127.0.0.1:\(port);"
      rendered = rendered.replacing(
        listen,
        with: """
          \(listen)
          access_log \(folder.path)/access.log counted;
          error_page 503 @closed;
          location @closed { add_header Retry-After \(retryAfter) always; return 503; }
          if (-f \(folder.path)/closed) { return 503; }
          """)
    }
    return """
      daemon off;
      \(getuid() == 0 ? "user root;" : "")
      pid \(folder.path)/nginx.pid;
      events { worker_connections 1024; }
      http {
        access_log off;
        log_format counted '$request_uri $status $http_if_none_match$http_if_modified_since';
        client_body_temp_path \(folder.path)/bodies;
        proxy_temp_path \(folder.path)/answers;
        fastcgi_temp_path \(folder.path)/fastcgi;
        uwsgi_temp_path \(folder.path)/uwsgi;
        scgi_temp_path \(folder.path)/scgi;
        \(rendered)
      }
      """
  }

  /// One that nobody listens on at the moment.
  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
      }
    }
    guard isBound else { throw TestResponse.Unexpected(description: "no port is free") }
    return Int(in_port_t(bigEndian: address.sin_port))
  }
}
