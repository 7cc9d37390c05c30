import Foundation
import HTTPTransfer
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("tidings-fetch upload to a server that is killed") struct TransferUploadTests {
  /// The number of random places at which a process is killed.
  private static let cuts = ProcessInfo.processInfo.environment["TIDINGS_CRASHES"].flatMap { Int($0) } ?? 6

  /// A line of `tidings-fetch transfers --json`.
  private struct Line: Decodable {
    var state: String
    var location: String?
    var failure: String?
  }

  private func line(_ command: Command) async throws -> Line {
    let output = try await command.run("transfers", "--json").output
    return try JSONDecoder().decode(Line.self, from: Data(output.utf8))
  }

  /// Kills the worker of a store if there is one.
  private func killWorker(_ command: Command) async throws {
    let lock = FetchLock(path: command.folder.appending(path: "transfers/worker.lock").path)
    guard let worker = lock.holder else { return }
    kill(worker, SIGKILL)
    try await eventually("the worker is dead") { lock.holder == nil }
  }

  /// Begins an upload of a file through the proxy. The key is read from a file.
  private func begin(_ content: Data, _ command: Command, key: String) async throws {
    try FileManager.default.createDirectory(at: command.folder, withIntermediateDirectories: true)
    let (file, fields) = (command.folder.appending(path: "cover.png"), command.folder.appending(path: "fields"))
    try content.write(to: file)
    try Data("Authorization: Bearer \(key)\n".utf8).write(to: fields)
    let result = try await command.run(
      "upload", file.path, command.server + "/v1/editorial/media", "--type", "image/png", "--header-file", fields.path)
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test(
    "continues where the server has it, at random places, also on another server; no byte that is stored is sent again",
    .timeLimit(.minutes(10)))
  func killed() async throws {
    var random = SplitMix64(seed: 41)
    let content = SampleMedia.png(bytes: Self.cuts < 20 ? 100_000_000 : 200_000_000)
    let places = (0..<Self.cuts).map { _ in Int.random(in: 1_000_000..<content.count, using: &random) }.sorted()
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await installation.makeKey(scopes: ["media:write"])
        let changes = ["TIDINGS_MEDIA_DIRECTORY": folder.path]
        let port = try Loopback.freePort()
        try await FaultyProxy.with(serverPort: port) { proxy in
          try await Command.with(server: "http://127.0.0.1:\(proxy.port)") { command in
            var server = try await installation.start(port: port, changes: changes)
            try await begin(content, command, key: key)
            for (index, place) in places.enumerated() {
              try await eventually("the bytes have passed") {
                // A dead worker is replaced by the next command.
                if try await line(command).state == "finished" { return true }
                return proxy.sent >= place
              }
              if index.isMultiple(of: 2) {
                // Another server takes over the address, as behind a proxy.
                server.process.send(SIGKILL)
                _ = await server.process.result()
                server = try await installation.start(port: port, changes: changes)
              } else {
                try await killWorker(command)
              }
            }
            try await eventually("it has arrived") {
              let line = try await line(command)
              #expect(line.state != "failed", "\(line.failure ?? "")")
              return line.state != "running"
            }
            #expect(try await line(command).location?.hasPrefix("/v1/media/") == true)
            try await eventually("one file is left") { try names(in: folder) == [content.sha256] }
            #expect(try await installation.sql.query("SELECT id FROM media").count == 1)
            // A server that is killed loses up to 8 MiB that it has not recorded. The rest is in the buffers of sockets.
            let allowance = 20_000_000 * Self.cuts
            #expect(proxy.sent < content.count + allowance, "\(proxy.sent) bytes were sent")
            await server.process.kill()
          }
        }
      }
    }
  }

  @Test("leaves no upload at the server if it is cancelled, and stores no key", .timeLimit(.minutes(3)))
  func cancelled() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await installation.makeKey(scopes: ["media:write"])
        try await installation.serve(changes: ["TIDINGS_MEDIA_DIRECTORY": folder.path]) { server in
          try await FaultyProxy.with(serverPort: server.port) { proxy in
            try await Command.with(server: "http://127.0.0.1:\(proxy.port)") { command in
              try await begin(SampleMedia.png(bytes: 100_000_000), command, key: key)
              try await eventually("some of it has arrived") { try !names(in: folder).isEmpty }
              server.process.send(SIGSTOP)
              #expect(try await installation.sql.query("SELECT id FROM media_uploads WHERE media IS NULL").count == 1)
              #expect(try await command.run("transfers", "cancel", "1").status == 0)
              server.process.send(SIGCONT)
              try await eventually("nothing is left at the server") {
                let rows = try await installation.sql.query("SELECT id FROM media_uploads")
                return try rows.isEmpty && names(in: folder).isEmpty
              }
              let journal = command.folder.appending(path: "transfers")
              try await eventually("the key is overwritten once no process uses the journal") {
                try names(in: journal).allSatisfy { name in
                  try Data(contentsOf: journal.appending(path: name)).range(of: Data(key.utf8)) == nil
                }
              }
            }
          }
        }
      }
    }
  }
}
