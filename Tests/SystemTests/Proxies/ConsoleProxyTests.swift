import FaultServer
import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

/// The console behind the shipped proxies. Its pages are not part of the contract, so a program requests them.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "needs curl"))
struct ConsoleProxyTests {
  /// The public URL of the servers, whose scheme decides the name of the cookie.
  private static let origin = "https://news.example"

  /// Sends a request with curl.
  ///
  /// - Parameters:
  ///   - folder: The folder for the body of the response.
  ///   - arguments: Further arguments.
  /// - Returns: The last response, without interim ones.
  private static func curl(
    _ target: String, port: Int, in folder: URL, _ arguments: String...
  ) async throws -> TestResponse {
    let body = folder.appending(path: "\(UUID())")
    let process = try ChildProcess(
      ["-sS", "-D", "-", "-o", body.path] + arguments + ["http://127.0.0.1:\(port)\(target)"],
      executable: "/usr/bin/curl", environment: ["HOME": folder.path])
    let result = await process.result()
    let blocks = result.output.replacing("\r\n", with: "\n").split(separator: "\n\n")
    guard result.status == 0, let head = blocks.last?.split(separator: "\n"),
      let start = head.first?.split(separator: " "),
      start.count > 1, let status = Int(start[1])
    else { throw Unexpected(description: "curl: \(result.status) \(result.errors)\(result.output)") }
    var response = TestResponse(status: status, headers: [], body: (try? Data(contentsOf: body)) ?? Data())
    response.headers = head.dropFirst().map { line in
      let name = line.prefix { $0 != ":" }
      return (String(name), line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces))
    }
    return response
  }

  /// Runs the body with a proxy in front of a server that sends the same response to every request.
  private static func withServer(
    _ edge: Edge, _ response: FaultResponse,
    _ body: @Sendable (_ server: FaultServer, _ port: Int, _ folder: URL) async throws -> Void
  ) async throws {
    try await withFolder(["empty": ""]) { folder in
      try await FaultServer.with({ ["/healthz", "/readyz"].contains($0.path) ? FaultResponse() : response }) {
        server in
        try await Proxy.with(try await Proxy(edge.kind, servers: [server.port], cache: edge.hasCache)) { proxy in
          try await body(server, proxy.port, folder)
        }
      }
    }
  }

  @Test(
    "No response of the console is stored, whatever it allows, and cookies pass to and from the console only",
    arguments: Edge.installed)
  func cookies(edge: Edge) async throws {
    let response = FaultResponse(
      headers: [("Cache-Control", "max-age=60, s-maxage=60"), ("Set-Cookie", "__Host-tidings=2")],
      body: Data("page".utf8))
    try await Self.withServer(edge, response) { server, port, folder in
      for target in ["/console", "/console/sign-in", "/console/items?page=2", "/console/live/events"] {
        for cookie in ["__Host-tidings=1", "__Host-tidings=2; a=b"] {
          let answer = try await Self.curl(target, port: port, in: folder, "-H", "Cookie: \(cookie)")
          #expect(answer.status == 200 && answer["Set-Cookie"] == "__Host-tidings=2" && answer.text == "page")
          let received = server.requests.filter { $0.target == target }
          #expect(received.last?["Cookie"] == cookie, "\(target)")
        }
        #expect(server.requests.filter { $0.target == target }.count == 2, "\(target)")
      }
      for target in ["/consoles", "/", "/v1/items", "/v1/editorial/items", "/v1/media/1", "/v1/events"] {
        _ = try await Self.curl(target, port: port, in: folder, "-H", "Cookie: __Host-tidings=1")
        let received = server.requests.filter { $0.target == target }
        #expect(received.count == 1 && received[0]["Cookie"] == nil, "\(target)")
      }
    }
  }

  @Test("Events of the live page pass at once", arguments: Edge.installed)
  func events(edge: Edge) async throws {
    let stream = FaultStream()
    var response = FaultResponse(headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")])
    response.framing = .chunked
    response.stream = stream
    try await Self.withServer(edge, response) { _, port, folder in
      let file = folder.appending(path: "events")
      let process = try ChildProcess(
        ["-sSN", "-o", file.path, "http://127.0.0.1:\(port)/console/live/events"], executable: "/usr/bin/curl",
        environment: ["HOME": folder.path])
      try await withResource(process, release: { await $0.kill() }) { process in
        var sent = ""
        for number in 1...3 {
          let event = "data: \(number)\n\n"
          sent += event
          stream.send(Data("\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n".utf8))
          let expected = sent
          try await eventually("the event is there") {
            (try? String(contentsOf: file, encoding: .utf8)) == expected
          }
        }
        stream.send(Data("0\r\n\r\n".utf8))
        stream.end()
        #expect(await process.result().status == 0)
      }
    }
  }

  /// Runs the body with a server that has a console and a folder for files, and with a key of its own.
  private static func withConsole(
    _ edge: Edge, _ body: @Sendable (_ setting: EdgeSetting, _ folder: URL) async throws -> Void
  ) async throws {
    try await withFolder(["media/empty": ""]) { folder in
      let changes = [
        "TIDINGS_PUBLIC_URL": origin, "TIDINGS_TRUSTED_PROXIES": "127.0.0.1",
        "TIDINGS_MEDIA_DIRECTORY": folder.appending(path: "media").path,
      ]
      try await Installation.with { installation in
        let made = try await installation.run("keys", "create", "--name", "desk", "--scope", "admin")
        let key = made.output.trimmingCharacters(in: .newlines)
        try await installation.serve(changes: changes) { server in
          let proxy = try await Proxy(edge.kind, servers: [server.port], cache: edge.hasCache)
          try await Proxy.with(proxy) { proxy in
            let setting = EdgeSetting(
              installation: installation, server: server, proxy: proxy.client, port: proxy.port, key: key)
            try await body(setting, folder)
          }
        }
      }
    }
  }

  @Test("The live page of a server is refreshed through the proxy, version by version", arguments: Edge.installed)
  func livePage(edge: Edge) async throws {
    try await Self.withConsole(edge) { setting, folder in
      let cookie = try await Self.signIn(setting, in: folder)
      let page = try await Self.curl("/console/live", port: setting.port, in: folder, "-H", "Cookie: \(cookie)")
      #expect(page.status == 200 && page["Cache-Control"]?.contains("no-store") == true)
      let file = folder.appending(path: "live")
      let process = try ChildProcess(
        [
          "-sSN", "-D", "-", "-o", file.path, "-H", "Cookie: \(cookie)",
          "http://127.0.0.1:\(setting.port)/console/live/events",
        ], executable: "/usr/bin/curl", environment: ["HOME": folder.path])
      try await withResource(process, release: { await $0.kill() }) { _ in
        func received() -> String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }
        try await eventually("the first event is there") { received().contains("Nothing is published yet.") }
        for title in ["Fog lifts", "Ferry stops"] {
          let body = #"{"text": "x", "title": "\#(title)"}"#
          let answer = try await setting.server.send("POST", "/v1/editorial/items", key: setting.key, body: body)
          #expect(answer.status == 201)
          // An event that waited for a full buffer would arrive with many later ones.
          try await eventually("the event with the version is there") { received().contains(title) }
        }
      }
      // Another browser gets no part of the stream.
      let other = try await Self.curl("/console/live/events", port: setting.port, in: folder)
      #expect(other.status == 303)
    }
  }

  /// Signs in through the proxy.
  ///
  /// - Returns: The pair for `Cookie`.
  private static func signIn(_ setting: EdgeSetting, in folder: URL) async throws -> String {
    let answer = try await curl(
      "/console/sign-in", port: setting.port, in: folder, "-H", "Origin: \(origin)", "-H",
      "Sec-Fetch-Site: same-origin",
      "--data-urlencode", "key=\(setting.key)")
    let cookie = try #require(answer["Set-Cookie"], "\(answer.status) \(answer.text)")
    #expect(answer.status == 303)
    #expect(cookie.hasPrefix("__Host-tidings=") && cookie.contains("; Secure"))
    return String(cookie.prefix { $0 != ";" })
  }

  @Test("The form to sign in reaches the server each time, and its cookie opens the console", arguments: Edge.installed)
  func signIn(edge: Edge) async throws {
    try await Self.withConsole(edge) { setting, folder in
      for number in 1...2 {
        let form = try await Self.curl("/console/sign-in", port: setting.port, in: folder)
        #expect(form.status == 200 && form["Cache-Control"]?.contains("no-store") == true)
        #expect(try await setting.requests("/console/sign-in") == number)
      }
      let cookie = try await Self.signIn(setting, in: folder)
      for number in 1...2 {
        let page = try await Self.curl("/console/items", port: setting.port, in: folder, "-H", "Cookie: \(cookie)")
        #expect(page.status == 200 && page["Cache-Control"]?.contains("no-store") == true)
        #expect(try await setting.requests("/console/items", status: 200) == number)
      }
      // Nobody else gets the page of a session.
      let other = try await Self.curl("/console/items", port: setting.port, in: folder)
      #expect(other.status == 303 && other["Location"]?.contains("/console/sign-in") == true)
    }
  }

  @Test("A file of 100 MB is uploaded by form", arguments: Edge.installed)
  func upload(edge: Edge) async throws {
    try await Self.withConsole(edge) { setting, folder in
      let picture = SampleMedia.png(bytes: 100_000_000)
      let file = folder.appending(path: "ferry.png")
      try picture.write(to: file)
      let cookie = try await Self.signIn(setting, in: folder)
      let page = try await Self.curl("/console/files", port: setting.port, in: folder, "-H", "Cookie: \(cookie)")
      let token = try #require(
        page.text.firstMatch(of: /name="csrf" value="([^"]+)"/), "\(page.status) \(page.text)")
      // A browser sends no `Expect`.
      let answer = try await Self.curl(
        "/console/files", port: setting.port, in: folder, "-H", "Cookie: \(cookie)", "-H", "Origin: \(Self.origin)",
        "-H", "Sec-Fetch-Site: same-origin", "-H", "Expect:", "-F", "csrf=\(token.1)", "-F",
        "file=@\(file.path);type=image/png")
      #expect(answer.status == 303, "\(answer.text)")
      let stored: [Data] = try await setting.installation.sql.query("SELECT sha256 FROM media")
        .map { try $0.decode("sha256") }
      #expect(stored.map { $0.map { String(format: "%02x", $0) }.joined() } == [picture.sha256])
    }
  }
}
