import BackgroundFetch
import FaultServer
import Foundation
import HTTPTransfer
import NewsClient
import Synchronization
import TestKit
import TestSupport
import Testing

@Suite("tidings-fetch download --wait") struct TransferWaitTests {
  @Test("ends at once with 20 if the file cannot be written, and refuses folders", .timeLimit(.minutes(2)))
  func hopeless() async throws {
    try await FaultServer.with({ _ in FaultResponse(body: Data("x".utf8)) }) { server in
      try await Command.with(server: server.url) { command in
        _ = try await command.run("transfers")
        let occupied = command.folder.appending(path: "occupied")
        try Data().write(to: occupied)
        let url = server.url + "/x"
        let result = try await command.run("download", url, "--output", occupied.path + "/out.bin", "--wait", "--json")
        #expect(result.status == 20)
        #expect(result.output.contains("cannot write to the folder"), "\(result.output)")
        let folder = command.folder.path
        for words in [["download", url, "--output", folder, "--wait"], ["upload", folder, url, "--wait"]] {
          let refused = try await command.start(words).result()
          #expect(refused.status == 64)
          #expect(refused.errors.contains("is a folder"), "\(refused.errors)")
        }
      }
    }
  }

  @Test("takes relative paths from the current folder, as uploads do", .timeLimit(.minutes(2)))
  func relativePaths() async throws {
    try await FaultServer.with({ _ in FaultResponse(body: Data("x".utf8)) }) { server in
      try await Command.with(server: server.url) { command in
        _ = try await command.run("transfers")
        let wrapper = ["/usr/bin/env", "-C", command.folder.path]
        for words in [["download", server.url + "/x", "--output", "x.bin"], ["upload", "x.bin", server.url + "/y"]] {
          let result = try await command.start(words + ["--wait"], wrapper: wrapper).result()
          #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try Data(contentsOf: command.folder.appending(path: "x.bin")) == Data("x".utf8))
        #expect(server.requests.last?.body == Data("x".utf8))
      }
    }
  }

  @Test("ends after the timeout without data, with the reason", .timeLimit(.minutes(2)))
  func deadServer() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let output = command.folder.appending(path: "x").path
      let result = try await command.run(
        "download", "http://127.0.0.1:1/x", "--output", output, "--wait", "--timeout", "3")
      #expect(result.status == 20)
      let waits = result.errors.split(separator: "\n").filter { $0.contains("tries again in") }
      #expect(waits.count == 1, "the reason is the same each time: \(result.errors)")
      #expect(result.errors.contains("no data for 3 s"), "\(result.errors)")
      #expect(result.output.contains("no response from 127.0.0.1:1: connection refused"), "\(result.output)")
      _ = try await command.run("transfers", "cancel", "1")
      let ended = try await command.run("transfers", "resume", "1")
      #expect((ended.status, ended.errors) == (20, "tidings-fetch: the transfer 1 has ended; start a new one\n"))
    }
  }

  @Test("starts another worker after one was killed", .timeLimit(.minutes(2)))
  func workerKilled() async throws {
    let content = Data(repeating: 7, count: 100_000)
    try await FaultServer.with({ request in
      let response = FaultResponse(headers: [("ETag", "\"one\"")], body: content)
      return request["Range"] == nil
        ? response.hanging(at: .body(50_000))
        : FaultResponse(
          status: 206, headers: [("ETag", "\"one\""), ("Content-Range", "bytes 50000-99999/100000")],
          body: content.dropFirst(50_000))
    }) { server in
      try await Command.with(server: server.url) { command in
        let output = command.folder.appending(path: "out.bin")
        let process = try command.start(["download", server.url + "/file", "--output", output.path, "--wait", "--json"])
        var worker: Int32?
        try await eventually("half is here") {
          let text = try? String(contentsOf: command.folder.appending(path: "transfers/worker.lock"), encoding: .utf8)
          worker = text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
          let part = try? Data(contentsOf: command.folder.appending(path: ".out.bin.1.part"))
          return worker != nil && part?.count == 50_000
        }
        kill(try #require(worker), SIGKILL)
        let result = await process.result()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try Data(contentsOf: output) == content)
      }
    }
  }

  @Test(
    "starts at once while a worker sleeps, even if the journal is written slowly",
    .enabled(if: program("strace") != nil), .timeLimit(.minutes(3)))
  func slowCommit() async throws {
    try await FaultServer.with({ request in
      request.path == "/busy"
        ? FaultResponse(status: 503, headers: [("Retry-After", "50")]) : FaultResponse(body: Data("x".utf8))
    }) { server in
      try await Command.with(server: server.url) { command in
        // The worker's clock stands still, so only the journal itself can wake it.
        let clock = ManualClock()
        let journal = try TransferJournal(store: command.folder)
        let busy = try #require(URL(string: server.url + "/busy"))
        let first = try journal.add(.init(download: busy, to: command.folder.appending(path: "busy"))).number
        try journal.resume(first, at: clock.now)
        let worker = try TransferWorker(store: command.folder, userAgent: "tests/1", clock: clock)
        let task = Task { try await worker.run() }
        try await eventually("the first has been refused") { try journal.transfer(first)?.failure != nil }
        let strace = try #require(program("strace"))
        let output = command.folder.appending(path: "other").path
        let download = try command.start(
          ["download", "http://localhost:\(server.port)/other", "--output", output],
          wrapper: [strace, "-f", "-qq", "-o", "/dev/null", "-e", "inject=pwrite64:delay_exit=100000"])
        #expect(await download.result().status == 0)
        try await eventually("the second is whole") { try journal.transfers().last?.state == .finished }
        task.cancel()
        _ = try await task.value
      }
    }
  }

  @Test(
    "fits its bars into forty columns, or into eighty if their number is unknown",
    .enabled(if: program("script") != nil), .timeLimit(.minutes(2)), arguments: [(40, 40), (0, 80)])
  func narrow(columns: Int, limit: Int) async throws {
    let content = Data(repeating: 7, count: 400_000)
    let name = "a-name-that-is-longer-than-any-terminal-of-forty-columns-would-bear.bin"
    try await FaultServer.with({ _ in
      FaultResponse(body: content).dripping(bytes: 20_000, every: .milliseconds(100))
    }) { server in
      try await Command.with(server: server.url) { command in
        let words = [
          ChildProcess.tidings + "-fetch", "--server", server.url, "--store", command.folder.path, "download",
          server.url + "/f", "--output", command.folder.appending(path: name).path, "--wait",
        ]
        let line = "stty cols \(columns); " + words.joined(separator: " ")
        let result = try await ChildProcess(
          ["-qec", line, "/dev/null"], executable: try #require(program("script")),
          environment: ["PATH": "/usr/bin:/bin", "TERM": "xterm"]
        ).result()
        #expect(result.status == 0, "\(result.output)")
        let drawn = result.output.split(whereSeparator: \.isNewline).filter { $0.contains("\u{1B}[2K") }
          .map { $0.replacing(/\u{1B}\[[0-9]*[A-Z]/, with: "") }
        #expect(drawn.count > 3)
        // Each line replaces the one above.
        let moves = result.output.matches(of: /\u{1B}\[([0-9]+)A/).map { String($0.1) }
        #expect(moves == Array(repeating: "1", count: drawn.count - 1))
        let lines = result.output.split(whereSeparator: \.isNewline)
        #expect(!lines.contains { $0.hasPrefix("1  finished") }, "the terminal already shows it: \(lines)")
        #expect(drawn.allSatisfy { $0.count < limit }, "\(drawn)")
        #expect(drawn.contains { $0.contains("█") && $0.contains("%") }, "\(drawn)")
      }
    }
  }

  @Test("leaves no process if the server demands a wait of an hour, and prints the wait")
  func retryAfter() async throws {
    try await FaultServer.with({ _ in
      FaultResponse(status: 503, headers: [("Retry-After", "3600")])
    }) { server in
      try await Command.with(server: server.url) { command in
        let output = command.folder.appending(path: "x").path
        let url = server.url + "/x"
        #expect(try await command.run("download", url, "--output", output).status == 0)
        let lock = FetchLock(path: command.folder.appending(path: "transfers/worker.lock").path)
        try await eventually("it has been refused") { server.requests.count == 1 }
        try await eventually("the worker has ended") { lock.holder == nil }
        for words in [["transfers"], ["transfers", "resume", "1"], ["transfers"]] {
          let result = try await command.start(words).result()
          guard words == ["transfers"] else { continue }
          #expect(result.output.contains("tries again in"), "\(result.output)")
        }
        // Between two looks at a transfer that waits is a minute.
        let start = ContinuousClock.now
        let waited = try await command.run("transfers", "--wait", "--timeout", "1")
        #expect(waited.status == 20 && waited.errors.contains("no data for 1 s"), "\(waited.errors)")
        #expect(ContinuousClock.now - start < .seconds(45))
        let (status, report) = try await command.fetch()
        #expect(status == 20)
        #expect(report?.error?.contains("the server accepts no requests for another") == true)
        #expect(server.requests.count == 1)
      }
    }
  }

  @Test("prints the size of a finished transfer, and no wait of its server")
  func finished() async throws {
    try await FaultServer.with({ request in
      switch request.path {
      case "/one": FaultResponse(body: Data(count: 1023))
      case "/two": FaultResponse(body: Data(count: 1024))
      default: FaultResponse(status: 503, headers: [("Retry-After", "3600")])
      }
    }) { server in
      try await Command.with(server: server.url) { command in
        for name in ["one", "two"] {
          let output = command.folder.appending(path: name).path
          #expect(try await command.run("download", server.url + "/" + name, "--output", output, "--wait").status == 0)
        }
        let output = command.folder.appending(path: "x").path
        #expect(try await command.run("download", server.url + "/x", "--output", output).status == 0)
        try await eventually("the third has been refused") {
          try await command.run("transfers").output.contains("tries again in")
        }
        let lines = try await command.run("transfers").output.split(separator: "\n")
        #expect(lines.first == "1  finished  1023 B of 1023 B  one")
        #expect(lines.dropFirst().first == "2  finished  1.0 KiB of 1.0 KiB  two")
        let objects = try await command.run("transfers", "--json").output.split(separator: "\n")
        #expect(objects.map { $0.contains("retryIn") } == [false, false, true])
        #expect(objects.first?.contains(#""completed":1023,"#) == true, "\(objects)")
        #expect(objects.first?.contains(#""total":1023,"#) == true, "\(objects)")
        // A program that waits for the printed time finds the wait over.
        struct Line: Decodable { var retryIn: Int? }
        let journal = try TransferJournal(store: command.folder)
        for _ in 0..<5 {
          let text = try await command.run("transfers", "--json").output.split(separator: "\n").last ?? ""
          let seconds = try #require(try JSONDecoder().decode(Line.self, from: Data(text.utf8)).retryIn)
          let transfer = try #require(try journal.transfer(3))
          #expect(Double(seconds) >= journal.delay(of: transfer))
        }
      }
    }
  }

  /// Starts a script in a folder that becomes `openssl s_server`, and waits until the server has a port.
  private static func tlsServer(_ script: String, in folder: URL) async throws -> (process: ChildProcess, port: Int) {
    let server = try ChildProcess(
      ["-c", "cd '\(folder.path)' && \(script)"], executable: "/bin/sh", environment: ["PATH": "/usr/bin:/bin"])
    var port: Int?
    for await line in server.errorLines {
      port = line.firstMatch(of: /^ACCEPT .*:([0-9]+)$/).flatMap { Int($0.1) }
      if port != nil { break }
    }
    return (server, try #require(port))
  }

  /// Returns the reason why a server has no response.
  private static func failure(_ url: URL) async -> String {
    let failure = await #expect(throws: HTTPTransportError.self) {
      _ = try await AsyncHTTPTransport().get(url, headers: [])
    }
    return failure?.message ?? ""
  }

  @Test(
    "ends although the server of a refused certificate is silent when it is asked for the certificate again",
    .enabled(if: program("openssl") != nil), .timeLimit(.minutes(3)))
  func silentProbe() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let certificates = try TestCertificates(in: folder, host: "localhost")
    let (server, port) = try await Self.tlsServer(
      "exec openssl s_server -www -accept 127.0.0.1:0 -cert server.crt -key server.key 1>&2", in: folder)
    try await FaultyProxy.with(serverPort: port) { proxy in
      let url = try #require(URL(string: "https://localhost:\(proxy.port)/"))
      let reason = await Self.failure(url)
      #expect(reason == "the server's certificate is not trusted: no known authority has signed it")
      // Two connections have had the same handshake. Of the next two, only the first one has it.
      let handshake = proxy.passed / 2
      proxy.spoil(.stall, after: handshake + handshake / 20)
      let message = Mutex<String?>(nil)
      let task = Task {
        let text = await Self.failure(url)
        message.withLock { $0 = text }
      }
      try await eventually("it has ended") { message.withLock { $0 != nil } }
      #expect(message.withLock(\.self) == "the server's certificate is not trusted, or has expired")
      #expect(proxy.isSpent)
      await task.value
    }
    server.send(SIGTERM)
    _ = await server.result()
    withExtendedLifetime(certificates) {}
  }

  @Test("names a missing TLS 1.2 as the reason", .enabled(if: program("openssl") != nil), .timeLimit(.minutes(2)))
  func oldTLS() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let certificates = try TestCertificates(in: folder, host: "localhost")
    let script = """
      exec openssl s_server -www -accept 127.0.0.1:0 -tls1_1 -cipher ALL:@SECLEVEL=0 -cert server.crt -key server.key 1>&2
      """
    let (server, port) = try await Self.tlsServer(script, in: folder)
    let url = "https://localhost:\(port)"
    try await Command.with(server: url) { command in
      let output = command.folder.appending(path: "x").path
      let result = try await command.run("download", url + "/x", "--output", output, "--wait", "--timeout", "2")
      #expect(result.status == 20)
      #expect(result.output.contains("the server does not support TLS 1.2 or later"), "\(result.output)")
      _ = try await command.run("transfers", "cancel", "1")
    }
    server.send(SIGTERM)
    _ = await server.result()
    withExtendedLifetime(certificates) {}
  }

  /// The commands that make a certificate which is not valid yet.
  private static let laterCertificate = #"""
    openssl req -new -newkey rsa:2048 -nodes -keyout k.pem -out r.pem -subj /CN=localhost
    touch index
    echo 01 > serial
    printf '%s\n' '[ca]' default_ca=d '[d]' database=index serial=serial new_certs_dir=. default_md=sha256 \
    policy=p '[p]' commonName=supplied > ca.cnf
    openssl ca -batch -selfsign -config ca.cnf -keyfile k.pem -in r.pem -out s.pem -notext \
    -startdate 20400101000000Z -enddate 20410101000000Z
    """#

  @Test(
    "names the reason why a certificate is refused", .enabled(if: program("openssl") != nil), .timeLimit(.minutes(3)),
    arguments: [
      ("localhost", "-1", true, "the server's certificate has expired ("),
      ("localhost", "1", false, "the server's certificate is not trusted: no known authority has signed it"),
      ("other.example", "1", true, "the server's certificate is for another name"),
      ("localhost", nil, true, "the server's certificate is not valid before 2040-01-01; is the clock right?"),
      ("127.0.0.1", "-1", true, "the server's certificate has expired ("),
    ] as [(String, String?, Bool, String)])
  func certificates(name: String, days: String?, isTrusted: Bool, reason: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let certificate =
      days.map { days in
        """
        openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -subj /CN=\(name) \
        -addext subjectAltName=DNS:\(name) -days 1
        openssl x509 -in c.pem -signkey k.pem -days \(days) -out s.pem
        """
      } ?? Self.laterCertificate
    let script = """
      \(certificate)
      exec openssl s_server -www -accept 127.0.0.1:0 -cert s.pem -key k.pem 1>&2
      """
    let (server, port) = try await Self.tlsServer(script, in: folder)
    let host = name == "127.0.0.1" ? name : "localhost"
    try await Command.with(server: "https://\(host):\(port)") { command in
      let options = isTrusted ? ["--ca-file", folder.appending(path: "s.pem").path] : []
      let result = try await command.start(options + ["fetch"]).result()
      #expect(result.status == 20)
      #expect(result.errors.contains(reason), "\(result.errors)")
    }
    server.send(SIGTERM)
    _ = await server.result()
  }

  @Test("reads header fields from a file, and names an invalid line")
  func headerFile() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 201) }) { server in
      try await Command.with(server: server.url) { command in
        try FileManager.default.createDirectory(at: command.folder, withIntermediateDirectories: true)
        let file = command.folder.appending(path: "fields")
        try Data("# the desk\nAuthorization: Bearer s3cret\n\nX-A: b\n".utf8).write(to: file)
        let words = ["upload", "/etc/hostname", server.url + "/u", "--wait"]
        // The field of the file replaces that of the command line.
        let fields = ["--header", "X-A: a", "--header-file", file.path]
        #expect(try await command.start(words + fields).result().status == 0)
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer s3cret"])
        #expect(server.requests.map { $0["X-A"] } == ["b"])
        let script = #"printf 'X-A: c\n' | "$@""#
        let typed = try await command.start(
          words + ["--header-file", "-"], wrapper: ["/bin/sh", "-c", script, "sh"]
        ).result()
        #expect(typed.status == 0 && server.requests.last?["X-A"] == "c", "\(typed.errors)")
        try Data("Authorization: x\ns3cret without a colon\n".utf8).write(to: file)
        let refused = try await command.start(words + ["--header-file", file.path]).result()
        #expect(refused.status == 64)
        #expect(refused.errors.contains("Line 2 of"))
        #expect(!refused.errors.contains("s3cret"))
        try Data(("X-A: d\n" + String(repeating: "#", count: 65_529)).utf8).write(to: file)
        #expect(try await command.start(words + ["--header-file", file.path]).result().status == 0)
        #expect(server.requests.last?["X-A"] == "d")
        try Data(("X-A: b\n" + String(repeating: "#", count: 65_530)).utf8).write(to: file)
        let long = try await command.start(words + ["--header-file", file.path]).result()
        #expect(long.status == 64 && long.errors.contains("have more than 65536 bytes"), "\(long.errors)")
        for name in try FileManager.default.subpathsOfDirectory(
          atPath: command.folder.appending(path: "transfers").path)
        {
          let data = try Data(contentsOf: command.folder.appending(path: "transfers/\(name)"))
          #expect(data.range(of: Data("s3cret".utf8)) == nil, "\(name)")
        }
      }
    }
  }
}
