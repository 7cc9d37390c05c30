import Foundation
import News
import TestKit
import TestSupport

/// The work of editors: schedules, withdrawals, restorations, batches, and requests that are repeated with a key.
extension APIWriter {
  /// Makes one such write.
  mutating func edit() async throws {
    guard let server = system.servers.randomElement(using: &random) else { return }
    let kind = Int.random(in: 0..<10, using: &random)
    switch kind {
    case 0, 1:
      var content = randomContent()
      content.state = "scheduled"
      let id = await system.ledger.create(using: &random)
      let fields = json(content, id: id).dropFirst()
      let body = #"{"publishAt": "\#(soon())", \#(fields)"#
      try await send("POST", id, to: server, body: body) { [content] in $0 ?? content }
    case 2, 3, 4:
      if let id = await system.ledger.lease(using: &random) { try await changeState(of: id, on: server) }
    case 5, 6:
      if let id = await system.ledger.lease(using: &random) { try await restore(id, on: server) }
    case 7: try await createRepeatedly()
    case 8: try await createBatchRepeatedly()
    default: try await writeBatch(on: server)
    }
  }

  /// Returns a time within the next two seconds. If it has passed when the server reads it, the write is refused.
  private mutating func soon() -> String {
    RFC3339.string(from: Date() + Double.random(in: 0.1...2, using: &random))
  }

  /// Withdraws a published item; schedules or publishes another one.
  private mutating func changeState(of id: UUID, on server: TestClient) async throws {
    guard let (item, revision) = try await read(id, on: server) else { return }
    let (state, body): (String, String)
    switch (item.state, Bool.random(using: &random)) {
    case (.retracted, _): return await system.ledger.release(id)
    case (.published, _): (state, body) = ("draft", #"{"state": "draft"}"#)
    case (_, true): (state, body) = ("scheduled", #"{"state": "scheduled", "publishAt": "\#(soon())"}"#)
    case (_, false): (state, body) = ("published", #"{"state": "published", "publishAt": null}"#)
    }
    let lock = [("If-Match", revision)]
    try await send("PATCH", id, Ledger.Content(item), to: server, headers: lock, body: body) { $0?.with(state: state) }
  }

  /// Changes an item, and then restores the revision from before.
  private mutating func restore(_ id: UUID, on server: TestClient) async throws {
    guard let (former, tag) = try await read(id, on: server) else { return }
    let content = Ledger.Content(former)
    let (text, topics) = ("\(random.next())", randomTopics())
    let body = #"{"text": "\#(text)", "topics": \#(Self.list(topics))}"#
    try await send("PATCH", id, content, to: server, headers: [("If-Match", tag)], body: body) {
      $0?.with(text: text, topics: topics)
    }
    guard await system.ledger.lease(id), let (current, revision) = try await read(id, on: server) else { return }
    let path = "/v1/editorial/items/\(id.uuidString.lowercased())/history/\(former.revision)/restore"
    let lock = [("If-Match", revision)]
    try await send("POST", id, Ledger.Content(current), to: server, path: path, headers: lock) {
      $0.map { content.with(state: $0.state) }
    }
  }
}

// MARK: Batches

extension APIWriter {
  /// An entry of a batch.
  private struct Entry {
    var json: String
    var attempt: Ledger.Attempt
    var isCreation = false
    /// Whether the entry names a wrong revision.
    var isStale = false
  }

  /// The body of the refusal of an atomic batch.
  private struct Refusal: Decodable {
    var results: [BatchResult]
  }

  /// Writes several items with one request.
  private mutating func writeBatch(on server: TestClient) async throws {
    let isAtomic = Bool.random(using: &random)
    var entries: [Entry] = []
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      if Bool.random(using: &random), let id = await system.ledger.lease(using: &random) {
        if let entry = try await change(of: id, on: server) { entries.append(entry) }
      } else {
        entries.append(await creation())
      }
    }
    guard !entries.isEmpty else { return }
    if isAtomic {
      await system.ledger.beginAtomicCreation(of: entries.filter(\.isCreation).map(\.attempt.id))
    }
    let list = entries.map(\.json).joined(separator: ",")
    let body = #"{"atomic": \#(isAtomic), "entries": [\#(list)]}"#
    let answer = try await Self.answer {
      try await server.send("POST", "/v1/editorial/items/batch", key: system.key, body: body)
    }
    guard let answer, answer.status != 503 else {
      for entry in entries { await system.ledger.end(entry.attempt, .unknown) }
      return try await Task.sleep(for: .milliseconds(20))
    }
    let isRefused = isAtomic && answer.status == 422
    let results =
      isRefused
      ? try answer.json(Refusal.self, status: 422).results : try answer.json(BatchResultList.self).results
    let refused = results.count { $0.status >= 300 }
    let innocent = results.count { $0.status == 424 }
    // An atomic batch is written as a whole, or all entries are refused, and not all of them because of others.
    let isConsistent = isRefused ? refused == results.count && innocent < refused : innocent == 0
    guard results.count == entries.count, isConsistent, isRefused || !isAtomic || refused == 0 else {
      throw Ledger.Violation(description: "a batch has the response \(answer.text)")
    }
    for (entry, result) in zip(entries, results) { try await end(entry, result, on: server) }
  }

  /// Notes the result of an entry.
  private mutating func end(_ entry: Entry, _ result: BatchResult, on server: TestClient) async throws {
    switch result.status {
    case 409, 410, 412, 422, 424: await system.ledger.end(entry.attempt, .refused)
    case 200..<300 where !entry.isStale:
      try await checkVisibility(of: entry.attempt.id, entry.attempt.after, on: server)
      await system.ledger.end(entry.attempt, .done)
      writes += 1
    default: throw Ledger.Violation(description: "the entry \(entry.json) has the result \(result)")
    }
  }

  private mutating func creation() async -> Entry {
    let content = randomContent()
    let id = await system.ledger.create(using: &random)
    let attempt = await system.ledger.begin(id) { $0 ?? content }
    let json = #"{"op": "create", "id": "\#(id.uuidString.lowercased())", "item": \#(json(content))}"#
    return Entry(json: json, attempt: attempt, isCreation: true)
  }

  /// Returns an entry that changes a leased item, sometimes with a wrong revision; nil if the item cannot be read.
  private mutating func change(of id: UUID, on server: TestClient) async throws -> Entry? {
    guard let (item, _) = try await read(id, on: server) else { return nil }
    let isStale = Int.random(in: 0..<10, using: &random) == 0
    let seen = Ledger.Content(item)
    let start = #""id": "\#(id.uuidString.lowercased())", "revision": \#(item.revision + (isStale ? 100 : 0))"#
    let (attempt, json): (Ledger.Attempt, String)
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      attempt = await system.ledger.begin(id, seen: seen) { $0?.with(state: "retracted") }
      json = #"{"op": "retract", \#(start)}"#
    case 1, 2:
      let content = randomContent()
      attempt = await system.ledger.begin(id, seen: seen) { _ in content }
      json = #"{"op": "replace", \#(start), "item": \#(self.json(content))}"#
    default:
      let (text, topics) = ("\(random.next())", randomTopics())
      attempt = await system.ledger.begin(id, seen: seen) { $0?.with(text: text, topics: topics) }
      json = #"{"op": "modify", \#(start), "patch": {"text": "\#(text)", "topics": \#(Self.list(topics))}}"#
    }
    return Entry(json: json, attempt: attempt, isStale: isStale)
  }
}

// MARK: Idempotency keys

extension APIWriter {
  /// Creates an item whose id the server chooses, with a request that is repeated until its outcome is known.
  private mutating func createRepeatedly() async throws {
    let content = randomContent()
    await system.ledger.beginCreation(content)
    guard let answer = try await sendRepeatedly("/v1/editorial/items", json(content)) else { return }
    let id = try answer.json(EditorialItem.self, status: 201).item.id
    try await system.ledger.endCreation(content, as: id)
    await system.ledger.release(id)
    writes += 1
  }

  /// Creates several such items with one request.
  private mutating func createBatchRepeatedly() async throws {
    let contents = (0..<Int.random(in: 1...4, using: &random)).map { _ in randomContent() }
    var entries: [String] = []
    for content in contents {
      await system.ledger.beginCreation(content)
      entries.append(#"{"op": "create", "item": \#(json(content))}"#)
    }
    let body = #"{"atomic": \#(Bool.random(using: &random)), "entries": [\#(entries.joined(separator: ","))]}"#
    guard let answer = try await sendRepeatedly("/v1/editorial/items/batch", body) else { return }
    for (content, result) in zip(contents, try answer.json(BatchResultList.self).results) {
      guard result.status == 201, let id = result.id else {
        throw Ledger.Violation(description: "a creation in a batch has the result \(result)")
      }
      try await system.ledger.endCreation(content, as: id)
      await system.ledger.release(id)
      writes += 1
    }
  }

  /// Sends a request with a new key until its outcome is known, and sometimes once more. All answers must be the same.
  ///
  /// - Returns: The answer; nil if the outcome is unknown after half a minute.
  private mutating func sendRepeatedly(_ path: String, _ body: String) async throws -> TestResponse? {
    let key = #""\#(UUID().uuidString)""#
    let end = ContinuousClock.now + .seconds(30)
    var first: TestResponse?
    while ContinuousClock.now < end, first == nil || Bool.random(using: &random) {
      guard let server = system.servers.randomElement(using: &random) else { break }
      let headers = [("Idempotency-Key", key)]
      let answer = try await Self.answer {
        try await server.send("POST", path, key: system.key, headers: headers, body: body)
      }
      switch answer?.status {
      case nil, 503: try await Task.sleep(for: .milliseconds(50))
      case 409 where answer?["Retry-After"] != nil: try await Task.sleep(for: .milliseconds(50))
      case 200, 201:
        guard first == nil || (answer?["Idempotency-Replayed"] == "true" && answer?.body == first?.body) else {
          throw Ledger.Violation(description: "a repeated POST \(path) has another answer: \(answer?.text ?? "")")
        }
        first = answer
      default: throw Ledger.Violation(description: "POST \(path): \(answer?.status ?? 0) \(answer?.text ?? "")")
      }
    }
    return first
  }
}
