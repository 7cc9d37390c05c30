import FaultServer
import Foundation
import News
import NewsDelivery
import NewsStore
import TestKit
import TestSupport
import Testing

/// The interpreters of receivers.
private enum Program {
  /// The environment of this process without its proxies.
  static let environment = ProcessInfo.processInfo.environment.filter { !$0.key.lowercased().hasSuffix("_proxy") }

  /// Runs a program to its end.
  static func result(_ arguments: [String]) async throws -> ChildProcess.Result {
    try await ChildProcess(arguments, executable: "/usr/bin/env", environment: environment).result()
  }

  /// Whether a program runs to its end without an error.
  static func runs(_ arguments: String...) async -> Bool { (try? await result(arguments))?.status == 0 }
}

/// Requests as receivers verify them: with a library that nobody here wrote, and with the programs of the
/// documentation.
@Suite struct WebhookVerifierTests {
  /// The code blocks of the documentation in a language.
  private static func blocks(_ language: String) throws -> [String] {
    let text = try String(contentsOf: Project.root.appending(path: "docs/webhooks.md"), encoding: .utf8)
    return text.components(separatedBy: "```\(language)\n").dropFirst().map { part in
      part.components(separatedBy: "\n```")[0]
    }
  }

  /// A request that a receiver has got, and the changes that must make its verification fail.
  private static func withRequest(
    _ body: @Sendable (_ request: FaultRequest, _ secret: WebhookSecret, _ old: WebhookSecret) async throws -> Void
  ) async throws {
    try await Receiver.with(from: Date()) { receiver in
      let (old, secret) = (try await receiver.add(), WebhookSecret.random())
      _ = try await receiver.store.rotateWebhook(Receiver.id(1), to: secret, at: receiver.now)
      try await receiver.insert(receiver.event(1, version: 1, topics: ["a"]))
      try await body(try #require(try await receiver.send().first), secret, old)
    }
  }

  /// Expects that a program accepts a request with both of its secrets, and refuses it with another secret, another
  /// body and an old timestamp.
  ///
  /// - Parameters:
  ///   - command: The interpreter and its option for a program.
  ///   - program: A program that ends with the status 0 for a valid request. Its arguments are the secret, the fields
  ///     as a JSON object, and the body.
  private static func expectVerification(_ command: [String], _ program: String) async throws {
    try await withRequest { request, secret, old in
      func status(_ secret: WebhookSecret, _ headers: [String: String], _ body: String) async throws -> Int32 {
        let fields = String(decoding: try JSONEncoder().encode(headers), as: UTF8.self)
        let result = try await Program.result(command + [program, secret.text, fields, body])
        #expect(result.status == 0 || result.status == 3, "\(result.errors)")
        return result.status
      }
      let names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
      var headers = Dictionary(uniqueKeysWithValues: try names.map { ($0, try #require(request[$0])) })
      for secret in [secret, old] { #expect(try await status(secret, headers, request.text) == 0) }
      #expect(try await status(.random(), headers, request.text) == 3)
      #expect(try await status(secret, headers, request.text + " ") == 3)
      headers["webhook-timestamp"] = String(try #require(Int(headers["webhook-timestamp"] ?? "")) - 301)
      #expect(try await status(secret, headers, request.text) == 3)
    }
  }

  @Test(
    "The library standardwebhooks of PyPI accepts the requests",
    .enabled("standardwebhooks is missing: pip install standardwebhooks") {
      await Program.runs("python3", "-c", "import standardwebhooks")
    })
  func standardWebhooks() async throws {
    try await Self.expectVerification(
      ["python3", "-c"],
      """
      import json, sys
      from standardwebhooks import Webhook, WebhookVerificationError
      try:
          Webhook(sys.argv[1]).verify(sys.argv[3], json.loads(sys.argv[2]))
      except WebhookVerificationError:
          sys.exit(3)
      """)
  }

  @Test(
    "The Python program of the documentation accepts the requests",
    .enabled("python3 is missing") { await Program.runs("python3", "-c", "import hmac") })
  func python() async throws {
    let program = try #require(try Self.blocks("python").first)
    try await Self.expectVerification(
      ["python3", "-c"],
      """
      import json, sys
      \(program)
      sys.exit(0 if verify(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3].encode()) else 3)
      """)
  }

  @Test(
    "The Node program of the documentation accepts the requests",
    .enabled("node is missing") { await Program.runs("node", "--eval", "0") })
  func node() async throws {
    let program = try #require(try Self.blocks("js").first)
    try await Self.expectVerification(
      ["node", "--eval"],
      """
      \(program)
      const [secret, headers, body] = process.argv.slice(1);
      process.exit(verify(secret, JSON.parse(headers), Buffer.from(body)) ? 0 : 3);
      """)
  }

  @Test(
    "The program of the documentation purges the addresses of an item from a CDN, and has failures repeated",
    .enabled("python3 is missing") { await Program.runs("python3", "-c", "import http.server") })
  func purge() async throws {
    let program = try #require(try Self.blocks("python").dropFirst().first)
    try await Receiver.with(from: Date()) { receiver in
      let secret = WebhookSecret.random()
      let variables = [
        "SITE": "https://news.example", "WEBHOOK_SECRET": secret.text, "CDN_API": receiver.server.url, "CDN_ZONE": "z1",
        "CDN_TOKEN": "t1", "PORT": "0",
      ]
      let process = try ChildProcess(
        ["python3", "-c", program], executable: "/usr/bin/env",
        environment: Program.environment.merging(variables) { $1 })
      try await withResource(process, release: { await $0.kill() }) { process in
        var lines = process.errorLines.makeAsyncIterator()
        let line = try #require(await lines.next())
        let port = try #require(line.firstMatch(of: /listening on port ([0-9]+)/)?.1)
        _ = try await receiver.store.createWebhook(
          Receiver.id(1), WebhookContent(url: "http://cache.example:\(port)/"), secret: secret, at: receiver.now)
        let topics = (0..<8).map { "t\($0)" }
        try await receiver.insert(receiver.event(7, version: 3, topics: topics))
        receiver.server.respond(next: FaultResponse(status: 500))
        #expect(try await receiver.send().count == 1)
        #expect(try await receiver.delivery().attempts.map(\.status) == [503])
        receiver.advance(5)
        let requests = try await receiver.send()
        #expect(try await receiver.delivery().state == .delivered)
        #expect(requests.allSatisfy { $0.path == "/zones/z1/purge_cache" && $0["Authorization"] == "Bearer t1" })
        let files = try requests.map { try JSONDecoder().decode([String: [String]].self, from: $0.body)["files"] ?? [] }
        #expect(files.map(\.count) == [30, 10])
        let all = Set(files.joined())
        #expect(all.contains("https://news.example/v1/items/00000000-0000-0000-0000-000000000007"))
        #expect(all.contains("https://news.example/topics/t7") && all.contains("https://news.example/"))
      }
    }
  }
}
