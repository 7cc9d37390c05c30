import Foundation
import PostgresClient
import TestKit
import TestSupport

/// Two servers over one database behind nginx.
actor Replicas {
  nonisolated let installation: Installation
  /// An editor's key.
  nonisolated let key: String
  /// nginx with the shipped configuration.
  nonisolated let proxy: Proxy
  private let ports: [Int]
  private var processes: [ChildProcess]

  /// Runs the body with two replicas and stops them afterwards.
  ///
  /// - Parameter cache: Whether nginx caches responses.
  static func with(
    _ installation: Installation, cache: Bool, _ body: @Sendable (Replicas) async throws -> Void
  ) async throws {
    let key = try await installation.makeKey()
    try await installation.serve { first in
      try await installation.serve { second in
        let running = [first, second]
        try await Proxy.with(try await Proxy(servers: running.map(\.port), cache: cache)) { proxy in
          let replicas = Replicas(installation, key: key, running, proxy)
          try await withResource(replicas, release: { await $0.end() }, body)
        }
      }
    }
  }

  private init(_ installation: Installation, key: String, _ running: [RunningServer], _ proxy: Proxy) {
    self.installation = installation
    self.key = key
    self.proxy = proxy
    ports = running.map(\.port)
    processes = running.map(\.process)
  }

  /// Stops a replica and starts it again on the same port.
  func restart(_ index: Int, by signal: Int32) async throws {
    processes[index].send(signal)
    let result = await processes[index].result()
    guard signal == SIGKILL || result.status == 0 else {
      throw Unexpected(description: "a server ended with \(result.status): \(result.errors)")
    }
    processes[index] = try await installation.start(port: ports[index]).process
  }

  /// Stops all replicas, including restarted ones.
  private func end() async {
    for process in processes {
      process.send(SIGKILL)
      _ = await process.result()
    }
  }
}
