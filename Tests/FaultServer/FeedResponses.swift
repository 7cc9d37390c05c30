import Foundation
import News

/// The responses of the API for one state of the feed.
struct FeedResponses {
  /// The opening of an event stream.
  struct Opening {
    let scope: Scope
    let text: String
  }

  private struct Refusal: Error {
    let response: FaultResponse
  }

  let snapshot: FeedSnapshot
  let now: Date
  var pollInterval: Int?
  var cacheControl = ""
  var compresses = true

  init(snapshot: FeedSnapshot, now: Date) {
    self.snapshot = snapshot
    self.now = now
  }

  static func newestFirst(_ items: some Sequence<NewsItem>) -> [NewsItem] {
    items.sorted { ($0.date, $0.id.uuidString) > ($1.date, $1.id.uuidString) }
  }

  func respond(_ request: FaultRequest) -> (response: FaultResponse, opening: Opening?) {
    var opening: Opening?
    var response: FaultResponse
    do {
      guard ["GET", "HEAD"].contains(request.method) else {
        throw refusal(405, "method-not-allowed", "Method not allowed")
      }
      switch request.path {
      case "/v1/items": response = try items(request)
      case "/v1/changes": response = try changes(request)
      case "/v1/state": response = try feedState(request)
      case "/v1/events":
        opening = try events(request)
        let headers = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("Connection", "close")]
        response = FaultResponse(headers: headers).framed(.untilClose)
      default: throw refusal(404, "not-found", "Not found")
      }
    } catch let refusal as Refusal {
      response = refusal.response
    } catch {
      response = FaultResponse(status: 500)
    }
    response = response.dated(now)
    return (request.method == "HEAD" ? response.headOnly : response, opening)
  }

  private func items(_ request: FaultRequest) throws -> FaultResponse {
    let query = try parameters(request, known: ["limit", "at", "topics", "include"])
    let (scope, limit) = (try scope(query), try limit(query, maximum: 200, usual: 50))
    try reach(query["at"], scope)
    let rows = snapshot.rows(in: scope)
    let present = rows.filter { $0.removal == nil }.compactMap { snapshot.items[$0.id] }
    let page = Self.newestFirst(present).prefix(limit).map { shown($0, query) }
    return try conditional(
      ItemList(items: page), etag: nil, token: snapshot.token(of: scope), changed: rows.map(\.changed).max(), request)
  }

  private func changes(_ request: FaultRequest) throws -> FaultResponse {
    let query = try parameters(request, known: ["since", "topics", "limit", "include", "at", "wait"])
    let (scope, limit) = (try scope(query), try limit(query, maximum: 1000, usual: 200))
    try reach(query["at"], scope)
    let since = try query["since"].map { try self.token($0, "since") }
    if let since, let reason = snapshot.refusal(of: since, in: scope) { throw expired(reason, scope) }
    let isSnapshot = since == nil || since?.position != nil
    let start = since?.version ?? snapshot.version
    let after = since.map { $0.position ?? $0.version } ?? 0
    // A snapshot contains removals only of items that the snapshot itself has listed.
    let rows = snapshot.rows(in: scope).filter {
      $0.version > after && !(isSnapshot && $0.removal != nil && $0.version <= start)
    }
    let page = rows.prefix(limit)
    let more = page.count < rows.count
    var token = snapshot.token(of: scope)
    if more, let last = page.last {
      token = SyncToken(
        epoch: snapshot.epoch, scope: scope, version: isSnapshot ? start : last.version,
        position: isSnapshot ? last.version : nil)
    }
    let changes = page.compactMap { row -> Change? in
      if let reason = row.removal { return .remove(id: row.id, reason: reason) }
      return snapshot.items[row.id].map { .put(shown($0, query)) }
    }
    let list = ChangeList(changes: changes, more: more, snapshot: isSnapshot ? true : nil, token: token)
    let response = try conditional(list, etag: "\(token)", token: token, changed: nil, request)
    return query["wait"] == nil ? response : response.setting("Cache-Control", "no-store")
  }

  private func feedState(_ request: FaultRequest) throws -> FaultResponse {
    let scope = try scope(try parameters(request, known: ["topics"]))
    let topics = scope.topics.map { ($0, snapshot.token(of: Scope(topics: [$0]))) }
    let state = FeedState(
      feed: snapshot.token(of: .feed), topics: Dictionary(uniqueKeysWithValues: topics),
      union: topics.isEmpty ? nil : snapshot.token(of: scope))
    return try conditional(state, etag: nil, token: snapshot.token(of: scope), changed: nil, request)
  }

  private func shown(_ item: NewsItem, _ query: [String: String]) -> NewsItem {
    var item = item
    if query["include"] != "html" { item.html = nil }
    return item
  }
}

extension FeedResponses {
  private func events(_ request: FaultRequest) throws -> Opening {
    guard request.method == "GET" else { throw refusal(405, "method-not-allowed", "Method not allowed") }
    let query = try parameters(request, known: ["topics", "since"])
    let scope = try scope(query)
    let current = snapshot.token(of: scope)
    let last = request["Last-Event-ID"].flatMap { $0.isEmpty ? nil : $0 }
    let held = try last.map { SyncToken($0) } ?? query["since"].map { try token($0, "since") }
    guard last != nil || held != nil else { return Opening(scope: scope, text: "retry: 1000\nid: \(current)\n\n") }
    guard let held, held.position == nil, snapshot.refusal(of: held, in: scope) == nil else {
      return Opening(scope: scope, text: "retry: 1000\nid: \(current)\n\n" + Self.resync(current))
    }
    let missed = snapshot.event(in: scope, after: held.version).map(Self.text) ?? ""
    return Opening(scope: scope, text: "retry: 1000\nid: \(held)\n\n" + missed)
  }

  /// Returns the text of a change event.
  static func text(_ event: ChangeEvent) -> String {
    // All fields of an event can be encoded.
    let json = (try? NewsJSON.encode(event)) ?? Data()
    return "id: \(event.token)\ndata: \(String(decoding: json, as: UTF8.self))\n\n"
  }

  /// Returns the text of a `resync` event: the changes are unavailable.
  static func resync(_ token: SyncToken) -> String {
    "id: \(token)\nevent: resync\ndata: {\"token\":\"\(token)\"}\n\n"
  }
}

extension FeedResponses {
  private func parameters(_ request: FaultRequest, known: Set<String>) throws -> [String: String] {
    let query = request.query
    for (name, value) in query.sorted(by: { $0.key < $1.key }) where !known.contains(name) || value.isEmpty {
      throw invalid(name, known.contains(name) ? "must not be empty" : "is not known")
    }
    return query
  }

  private func limit(_ query: [String: String], maximum: Int, usual: Int) throws -> Int {
    guard let text = query["limit"] else { return usual }
    guard let limit = Int(text), 1...maximum ~= limit else {
      throw invalid("limit", "must be a number from 1 to \(maximum)")
    }
    return limit
  }

  private func scope(_ query: [String: String]) throws -> Scope {
    guard let text = query["topics"] else { return .feed }
    let topics = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard 1...32 ~= topics.count, topics.allSatisfy(TopicSlug.isValid) else {
      throw invalid("topics", "must be 1 to 32 slugs between commas")
    }
    return Scope(topics: topics)
  }

  private func token(_ text: String, _ name: String) throws -> SyncToken {
    guard let token = SyncToken(text) else { throw invalid(name, "must be a token") }
    return token
  }

  /// Checks `at`: a token of any scope, whose version must have been reached.
  private func reach(_ at: String?, _ scope: Scope) throws {
    guard let at = try at.map({ try token($0, "at") }) else { return }
    switch snapshot.historyRefusal(of: at) {
    case nil: return
    case "ahead"?:
      var refusal = refusal(503, "not-reached-yet", "This version is not here yet").response
      refusal = refusal.setting("Retry-After", "1").setting("Cache-Control", "no-store")
      throw Refusal(response: refusal)
    case let reason?: throw expired(reason, scope)
    }
  }

  private func expired(_ reason: String, _ scope: Scope) -> Refusal {
    Refusal(response: .tokenExpired(reason: reason, token: snapshot.token(of: scope)))
  }

  private func invalid(_ field: String, _ rule: String) -> Refusal {
    let problem = Problem(
      type: "/problems/invalid-parameter", title: "Invalid parameter", status: 400,
      errors: [FieldError(field: field, rule: rule)])
    return Refusal(response: FaultResponse.problem(problem).setting("Cache-Control", "no-store"))
  }

  private func refusal(_ status: Int, _ name: String, _ title: String) -> Refusal {
    Refusal(response: .problem(Problem(type: "/problems/\(name)", title: title, status: status)))
  }
}

extension FeedResponses {
  /// Returns a 200, or a 304 if the request holds the current representation.
  ///
  /// - Parameters:
  ///   - etag: The opaque part of the tag; nil for a hash of the content.
  ///   - changed: The time for `Last-Modified`; nil to omit it.
  private func conditional(
    _ value: some Encodable, etag: String?, token: SyncToken, changed: Date?, _ request: FaultRequest
  ) throws -> FaultResponse {
    let body = try NewsJSON.encode(value)
    let tag = etag ?? Self.hash(body)
    let isCompressed = compresses && body.count >= 1024 && (request["Accept-Encoding"] ?? "").contains("gzip")
    var response = FaultResponse(headers: [
      ("ETag", isCompressed ? "\"\(tag)-gz\"" : "\"\(tag)\""), ("Cache-Control", cacheControl),
      ("Vary", "Accept-Encoding"), ("Sync-Token", "\(token)"),
    ])
    if let pollInterval { response = response.adding("X-Poll-Interval", "\(pollInterval)") }
    let modified = changed.map { Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down)) }
    // The content could change again within the second that the field names.
    if let modified, now.timeIntervalSince(modified) >= 1 {
      response = response.adding("Last-Modified", HTTPDates.fixdate(modified))
    }
    if isHeld(tag, modified, request) {
      response.status = 304
      return response.framed(.bare)
    }
    response.body = body
    response = response.adding("Content-Type", "application/json")
    return isCompressed ? response.gzipped() : response
  }

  private func isHeld(_ tag: String, _ modified: Date?, _ request: FaultRequest) -> Bool {
    if let condition = request["If-None-Match"] {
      return condition.split(separator: ",").contains { text in
        var text = text.trimmingCharacters(in: .whitespaces)
        if text.hasPrefix("W/") { text = String(text.dropFirst(2)) }
        return text == "*" || text == "\"\(tag)\"" || text == "\"\(tag)-gz\""
      }
    }
    guard let modified, let since = request["If-Modified-Since"].flatMap(HTTPDates.date(fixdate:)) else { return false }
    return modified <= since
  }

  /// Returns an FNV-1a hash of the bytes in both directions: a strong tag for tests, equal in every run.
  private static func hash(_ body: Data) -> String {
    func hash(_ bytes: some Sequence<UInt8>) -> String {
      String(bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }, radix: 16)
    }
    return hash(body) + hash(body.reversed())
  }
}
