import Foundation
import News
import TestKit
import TestSupport

/// An editor who creates, edits, moves, publishes and retracts items through the API, and checks at once that each
/// write is visible to readers of the same server.
struct APIWriter {
  let system: TortureSystem
  let topics: [String]
  var random: SplitMix64
  var writes = 0
  /// The answers that the outcome of a write is unknown.
  private(set) var unknowns = 0

  init(system: TortureSystem, topics: [String], seed: UInt64) {
    self.system = system
    self.topics = topics
    random = SplitMix64(seed: seed)
  }

  mutating func write() async throws {
    let server = system.servers.randomElement(using: &random)
    guard let server else { return }
    if Int.random(in: 0..<10, using: &random) < 4 {
      let content = randomContent()
      if Bool.random(using: &random) { return try await create(content, on: server) }
      let id = await system.ledger.create(using: &random)
      try await send("POST", id, to: server, body: json(content, id: id)) { $0 ?? content }
    } else if let id = await system.ledger.lease(using: &random) {
      try await change(id, on: server)
    }
  }

  /// Creates an item whose id the server chooses.
  private mutating func create(_ content: Ledger.Content, on server: TestClient) async throws {
    await system.ledger.beginCreation(content)
    let answer = try await Self.answer {
      try await server.send("POST", "/v1/editorial/items", key: system.key, body: json(content))
    }
    guard let answer, answer.status == 201 else {
      if let answer, answer.status != 503 {
        throw Ledger.Violation(description: "POST: \(answer.status) \(answer.text)")
      }
      if let answer, answer.text.contains("outcome-unknown") { unknowns += 1 }
      return try await Task.sleep(for: .milliseconds(20))
    }
    let item = try answer.json(EditorialItem.self, status: 201).item
    try await system.ledger.endCreation(content, as: item.id)
    try await checkVisibility(of: item.id, [content], on: server)
    if content.state == "published" { try await checkList(for: item, on: server) }
    await system.ledger.release(item.id)
    writes += 1
  }

  /// Reads a leased item, which must match the ledger.
  ///
  /// - Returns: The item with its tag. If the server does not respond, or there is no item, nil, and the lease ends.
  func read(_ id: UUID, on server: TestClient) async throws -> (item: EditorialItem, revision: String)? {
    let path = "/v1/editorial/items/\(id.uuidString.lowercased())"
    guard let answer = try await Self.answer({ try await server.send("GET", path, key: system.key) }),
      [200, 404].contains(answer.status)
    else {
      await system.ledger.release(id)
      return nil
    }
    let item = answer.status == 404 ? nil : try answer.json(EditorialItem.self)
    try await system.ledger.check(id, item.map(Ledger.Content.init))
    guard let item, let revision = answer["ETag"] else {
      await system.ledger.release(id)
      return nil
    }
    return (item, revision)
  }

  /// Reads the item, and then writes with its current revision.
  private mutating func change(_ id: UUID, on server: TestClient) async throws {
    guard let (item, revision) = try await read(id, on: server) else { return }
    let seen = Ledger.Content(item)
    let lock = [("If-Match", revision)]
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1:
      try await send("DELETE", id, seen, to: server, headers: lock) { $0?.with(state: "retracted") }
    case 2, 3, 4:
      let content = randomContent()
      try await send("PUT", id, seen, to: server, headers: lock, body: json(content)) { _ in content }
    case 5, 6:
      let topics = randomTopics()
      try await send("PATCH", id, seen, to: server, headers: lock, body: #"{"topics": \#(Self.list(topics))}"#) {
        $0?.with(topics: topics)
      }
    default:
      // The title is often unchanged. Such a write is no change and takes no version.
      let title = "\(Int.random(in: 0..<3, using: &random))"
      let version = item.item.version
      let same = item.item.title == title
      let written = try await send("PATCH", id, seen, to: server, headers: lock, body: #"{"title": "\#(title)"}"#) {
        $0?.with(title: title)
      }
      if same, let written, written.version != version {
        throw Ledger.Violation(description: "\(id): a write that changes nothing took version \(written.version)")
      }
    }
  }

  /// Sends a write and checks its visibility.
  ///
  /// - Parameter path: The path; nil for that of the item, or for POST that of all items.
  /// - Returns: The item in the response, if the write succeeded and the response contains one.
  @discardableResult
  mutating func send(
    _ method: String, _ id: UUID, _ seen: Ledger.Content? = nil, to server: TestClient, path: String? = nil,
    headers: [(String, String)] = [], body: String? = nil,
    _ change: @Sendable (Ledger.Content?) -> Ledger.Content?
  ) async throws -> NewsItem? {
    let attempt = await system.ledger.begin(id, seen: seen, change)
    let path = path ?? "/v1/editorial/items" + (method == "POST" ? "" : "/\(id.uuidString.lowercased())")
    let answer = try await Self.answer {
      try await server.send(method, path, key: system.key, headers: headers, body: body)
    }
    let outcome: Ledger.Outcome =
      switch answer?.status {
      case nil: .unknown
      case 200, 201, 204: .done
      case 409, 410, 412, 422: .refused
      case 503: .unknown
      case let status?: throw Ledger.Violation(description: "\(method): \(status) \(answer?.text ?? "")")
      }
    if let answer, answer.status == 503, answer.text.contains("outcome-unknown") { unknowns += 1 }
    guard case .done = outcome else {
      await system.ledger.end(attempt, outcome)
      // A writer that cannot write waits before the next attempt.
      if case .unknown = outcome { try await Task.sleep(for: .milliseconds(20)) }
      return nil
    }
    let item = method == "DELETE" ? nil : try answer.flatMap { try $0.json(EditorialItem.self, status: $0.status).item }
    // This writer holds the lease of the item, so no other writer changes it.
    try await checkVisibility(of: id, attempt.after, on: server)
    if let item { try await checkList(for: item, on: server) }
    await system.ledger.end(attempt, outcome)
    writes += 1
    return item
  }

  /// Checks that an acknowledged write is visible to the next read from the same server.
  func checkVisibility(of id: UUID, _ written: Ledger.Possible, on server: TestClient) async throws {
    guard written.count == 1, let content = written.first ?? nil,
      let answer = try await Self.answer({ try await server.send("GET", "/v1/items/\(id.uuidString.lowercased())") }),
      answer.status != 503
    else { return }
    let isRight =
      switch content.state {
      case "published":
        answer.status == 200 && (try? answer.json(NewsItem.self)).map { $0.text == content.text } == true
      case "retracted": [404, 410].contains(answer.status)
      default: answer.status == 404
      }
    guard isRight else {
      throw Ledger.Violation(
        description: "\(id) was written as \(content), and read as \(answer.status) \(answer.text)")
    }
  }

  private func checkList(for item: NewsItem, on server: TestClient) async throws {
    guard let answer = try await Self.answer({ try await server.send("GET", "/v1/items?limit=20") }),
      // A response from memory, sent while the database does not respond, is marked with `Cache-Status`.
      answer.status == 200, answer["Cache-Status"] == nil
    else { return }
    guard let token = answer["Sync-Token"].flatMap({ SyncToken($0) }), token.version >= item.version else {
      throw Ledger.Violation(
        description:
          "version \(item.version) was acknowledged, and a list then had \(answer["Sync-Token"] ?? "no token")")
    }
  }

  /// Sends a request; nil for a broken connection.
  static func answer(_ send: () async throws -> TestResponse) async throws -> TestResponse? {
    do {
      return try await send()
    } catch let violation as Contract.Violation {
      throw violation
    } catch {
      return nil
    }
  }

  mutating func randomTopics() -> [String] {
    topics.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)).sorted()
  }

  mutating func randomContent() -> Ledger.Content {
    let state = Int.random(in: 0..<8, using: &random) == 0 ? "draft" : "published"
    return Ledger.Content(state: state, text: "\(random.next())", title: nil, topics: randomTopics())
  }

  mutating func json(_ content: Ledger.Content, id: UUID? = nil) -> String {
    let day = Int.random(in: 10...28, using: &random)
    let id = id.map { #""id": "\#($0.uuidString.lowercased())", "# } ?? ""
    return #"""
      {\#(id)"date": "2026-01-\#(day)T12:00:00Z", "text": "\#(content.text)", "state": "\#(content.state)",
      "topics": \#(Self.list(content.topics))}
      """#
  }

  static func list(_ topics: [String]) -> String {
    "[" + topics.map { "\"\($0)\"" }.joined(separator: ",") + "]"
  }
}

extension Ledger.Content {
  init(_ item: EditorialItem) {
    self.init(state: item.state.rawValue, text: item.item.text, title: item.item.title, topics: item.item.topics)
  }

  func with(
    state: String? = nil, text: String? = nil, title: String? = nil, topics: [String]? = nil
  ) -> Ledger.Content {
    Ledger.Content(
      state: state ?? self.state, text: text ?? self.text, title: title ?? self.title, topics: topics ?? self.topics)
  }
}
