import Foundation
import TestKit
import TestSupport

/// nginx as a server of files.
enum StaticFiles {
  /// The folder with real feeds beside the repository, if it exists.
  static let realFeeds = Project.root.deletingLastPathComponent().appending(path: "shared/data")

  /// Whether there are real feeds, and nginx can serve them.
  static var areReal: Bool { Proxy.isInstalled && FileManager.default.fileExists(atPath: realFeeds.path) }

  /// Runs the body with the address of a server of a folder.
  static func serve(_ folder: URL, _ body: (_ url: String) async throws -> Void) async throws {
    try await withFolder([:]) { work in
      for _ in 0..<10 {
        let port = try Loopback.freePort()
        let process = try start(folder, port, in: work)
        // Another process may take the port first. nginx ends then.
        let isReady = try await isReady(process, port)
        try await withResource(
          process,
          release: { process in
            process.send(SIGTERM)
            _ = await process.result()
          }
        ) { _ in
          if isReady { try await body("http://127.0.0.1:\(port)") }
        }
        if isReady { return }
      }
      throw Unexpected(description: "nginx does not start")
    }
  }

  private static func start(_ folder: URL, _ port: Int, in work: URL) throws -> ChildProcess {
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "\($0)_temp_path \(work.appending(path: $0).path);"
    }
    let configuration = """
      daemon off;
      \(getuid() == 0 ? "user root;" : "")
      pid \(work.appending(path: "nginx.pid").path);
      events {}
      http {
        access_log off;
        \(temporary.joined(separator: " "))
        server { listen 127.0.0.1:\(port); root \(folder.path); }
      }
      """
    let file = work.appending(path: "nginx.conf")
    try Data(configuration.utf8).write(to: file)
    return try ChildProcess(
      ["-p", work.path, "-e", "stderr", "-c", file.path], executable: Proxy.nginx,
      environment: ["PATH": "/usr/bin:/bin"])
  }

  /// Waits until nginx answers.
  ///
  /// - Returns: False if it has ended.
  private static func isReady(_ process: ChildProcess, _ port: Int) async throws -> Bool {
    let hasEnded = Flag()
    let end = Task {
      for await _ in process.errorLines {}
      hasEnded.set()
    }
    defer { end.cancel() }
    var isReady = false
    try await eventually("nginx answers or ends") {
      let request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      isReady = (try? await RawConnection.exchange(request, port: port, endsInput: false))?.isEmpty == false
      return isReady || hasEnded.isSet
    }
    return isReady && !hasEnded.isSet
  }
}
