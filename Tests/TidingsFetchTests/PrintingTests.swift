import FaultServer
import Foundation
import News
import TestSupport
import Testing

@Suite("The output of tidings-fetch") struct PrintingTests {
  @Test("has the version of the libraries, as User-Agent has")
  func version() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 503) }) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.run("--version").output == TidingsVersion.current + "\n")
        _ = try await command.fetch()
        #expect(server.requests.first?["User-Agent"] == "tidings-fetch/\(TidingsVersion.current) (Linux)")
        let environment = [
          "TIDINGS_SERVER": server.url, "TIDINGS_STORE": command.folder.path + "-b", "PATH": "/usr/bin:/bin",
          "TIDINGS_CONTACT": "desk@news.example\u{1B}",
        ]
        let process = try ChildProcess(
          ["fetch"], executable: ChildProcess.tidings + "-fetch", environment: environment)
        #expect(await process.result().status == 20)
        #expect(
          server.requests.last?["User-Agent"]
            == "tidings-fetch/\(TidingsVersion.current) (Linux; desk@news.example)")
        try? FileManager.default.removeItem(atPath: command.folder.path + "-b")
      }
    }
  }

  @Test("has no terminal sequences of the server")
  func terminal() async throws {
    let feed = FaultFeed()
    feed.publish("first \u{1B}]0;owned\u{07}\u{1B}[2J\r\u{202E}gnp.exe")
    let problem = #"{"type":"/x","title":"\u001b[2J","status":400,"detail":"no \u001b]0;x\u0007harbor"}"#
    try await FaultServer.with({ request in
      request.path.hasPrefix("/v1/")
        ? feed.respond(request)
        : FaultResponse(status: 400, headers: [("Content-Type", "application/problem+json")], body: Data(problem.utf8))
    }) { server in
      try await Command.with(server: server.url) { command in
        #expect(try await command.fetch().status == 0)
        let output = command.folder.appending(path: "a\u{1B}[2Jb\u{202E}.bin").path
        let download = try await command.run("download", server.url + "/x", "--output", output, "--wait")
        #expect(download.output.contains("harbor"), "\(download.output)")
        var texts = [download.output, download.errors]
        for words in [["list"], ["snapshot"], ["status"], ["log"], ["transfers"]] {
          let result = try await command.start(words).result()
          texts += [result.output, result.errors]
        }
        for text in texts {
          #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0 == "\u{202E}" }, "\(text)")
        }
        #expect(texts.joined().contains("first ]0;owned[2J"))
      }
    }
  }

  @Test("has no control characters and no bidirectional overrides; JSON has them as escapes")
  func controls() async throws {
    let hidden = "\u{7F}\u{85}\u{9B}2J\u{9D}0;x\u{9C}\u{2028}\u{2029}\u{202A}\u{202E}gnp\u{2066}\u{2069}\u{FEFF}"
    let feed = FaultFeed()
    feed.publish("text \(hidden)", title: "title \(hidden)")
    feed.publish("headline \(hidden)")
    let problem = #"{"type":"/x","title":"no","status":400,"detail":"harbor \#(hidden)"}"#
    let refusal = FaultResponse(
      status: 400, headers: [("Content-Type", "application/problem+json")], body: Data(problem.utf8))
    try await FaultServer.with({ $0.path.hasPrefix("/v1/") ? feed.respond($0) : refusal }) { server in
      try await Command.with(server: server.url) { command in
        var texts = [try await command.run("fetch", "--json").output]
        let output = command.folder.appending(path: "x").path
        let download = ["download", server.url + "/x", "--output", output, "--wait", "--json"]
        texts.append(try await command.start(download).result().output)
        for words in [["list"], ["snapshot"], ["log"], ["transfers"]] {
          for flags in [[], ["--json"]] {
            let result = try await command.start(words + flags).result()
            #expect(result.status == 0 && !result.output.isEmpty, "\(words)")
            texts += [result.output, result.errors]
          }
        }
        for line in texts.joined().split(separator: "\n") {
          #expect(line.description.terminalSafe == line.description, "\(line.debugDescription)")
        }
        let items = try await command.items()
        func scalars(_ text: String?) -> [Unicode.Scalar] { Array((text ?? "").unicodeScalars) }
        #expect(items.map { scalars($0.text) } == feed.items.map { scalars($0.text) })
        #expect(items.map { scalars($0.title) } == feed.items.map { scalars($0.title) })
      }
    }
  }

  @Test("distinguishes a schedule without a wake from a server without news")
  func notNow() async throws {
    let feed = FaultFeed()
    try await FaultServer.with(feed.respond) { server in
      try await Command.with(server: server.url) { command in
        struct Line: Decodable {
          var result: String
          var notNow: String?
          var next: String?
        }
        func line(_ words: String...) async throws -> Line {
          let result = try await command.start(words).result()
          return try JSONDecoder().decode(Line.self, from: Data(result.output.utf8))
        }
        var report = try await line("fetch", "--scheduled", "--json")
        #expect((report.result, report.notNow) == ("noData", "background fetch is off"))
        #expect(report.next == nil)
        #expect(try await command.run("schedule", "set", "2h").output == "")
        report = try await line("fetch", "--json")
        #expect((report.result, report.notNow) == ("noData", nil))
        // The first scheduled fetch may run, and then uses up the slot.
        _ = try await line("fetch", "--scheduled", "--json")
        report = try await line("fetch", "--scheduled", "--json")
        #expect(report.notNow != nil)
        #expect(report.next?.hasSuffix("Z") == true)
      }
    }
  }

  @Test("names the minimum interval if a shorter one is requested")
  func floor() async throws {
    try await Command.with(server: "http://127.0.0.1:1") { command in
      let output = try await command.run("schedule", "set", "5m").output
      #expect(output == "interval  15 min (the minimum; 5 min was requested)\n")
      #expect(try await command.run("schedule", "show").output.hasPrefix(output))
    }
  }
}
