import HTTPConditions
import HTTPTypes
package import News
package import NewsStore

/// `/v1/changes`: the changes after a token, or a snapshot.
package struct ChangesView: PublicView {
  let query: ChangeQuery

  /// The number of recent versions whose changes are likely to be requested by several clients.
  static let recentVersions = 1000

  package init(_ query: ChangeQuery) { self.query = query }

  package var route: String { APIPath.changes }
  package var scope: Scope { query.scope }
  package var dependency: ResponseDependency { .changes(query.scope, since: query.since?.version ?? 0) }
  package var isPolled: Bool { true }

  /// The continuation of a snapshot is checked with its rows.
  package var since: SyncToken? { query.since?.position == nil ? query.since : nil }

  package func isUncommon(in snapshot: FeedSnapshot) -> Bool { snapshot.isOld(since, in: scope) }

  package func inMemory(_ snapshot: FeedSnapshot, _ sources: ViewSources) -> View? { snapshot.changes(query).map(view) }

  package func load(from sources: ViewSources, in snapshot: FeedSnapshot) async throws -> View {
    if let page = snapshot.changes(query) { return view(page) }
    return view(try await sources.store.changes(query))
  }

  private func view(_ page: ChangePage) -> View {
    // The tag of a complete response is the token, so a client can revalidate with any token that it has. An incomplete
    // page can have the same token with different content.
    let token = page.token.description
    let items = page.changes.compactMap { change -> ItemVersion? in
      if case .put(let item) = change { item } else { nil }
    }
    let body = PageBody(items, in: ChangesFrame(page: page, html: query.includesHTML), epoch: page.feedVersion.epoch)
    return View(
      representation: Representation(
        body, tag: page.more ? nil : EntityTag(strong: token), fields: [.syncToken: token]),
      feedVersion: page.feedVersion)
  }
}

extension PublicRead {
  init(_ request: ChangeRequest) {
    self.init(ChangesView(request.query), at: request.at, isLongPoll: request.wait != nil)
  }
}

extension FeedSnapshot {
  /// Whether the changes after a token are likely to be requested by a single client.
  func isOld(_ since: SyncToken?, in scope: Scope) -> Bool {
    guard let since, let current = token(of: scope) else { return true }
    return since.version < current.version - ChangesView.recentVersions
  }
}

/// The JSON of a page of changes.
private struct ChangesFrame: BodyFrame {
  let page: ChangePage
  let html: Bool

  var forms: FragmentForms { .json(html: html) }

  func appendIdentity(_ items: [ItemVersion], to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "c"))
    for change in page.changes {
      switch change {
      case .put(let item): bytes.append(identitiesOf: CollectionOfOne(item))
      case .remove(let id, let reason): bytes.append(contentsOf: "-\(id) \(reason.rawValue)\n".utf8)
      }
    }
    bytes.append(contentsOf: "=\(page.token) \(page.more) \(page.isSnapshot)".utf8)
  }

  func body(_ fragments: [[UInt8]]) -> [UInt8] {
    var json = JSONWriter(capacity: fragments.reduce(256) { $0 + $1.count + 32 } + page.changes.count * 96)
    var rest = fragments[...]
    json.object { json in
      json.field("changes") {
        $0.array(page.changes) { json, change in
          json.write(change, fragment: { rest.removeFirst() })
        }
      }
      json.field("more", page.more)
      if page.isSnapshot { json.field("snapshot", true) }
      json.field("token", page.token.description)
    }
    return json.bytes
  }
}

extension JSONWriter {
  /// Writes a change.
  ///
  /// - Parameter fragment: Returns the JSON of the item of a put.
  fileprivate mutating func write(_ change: ChangePage.Change, fragment: () -> [UInt8]) {
    object { json in
      switch change {
      case .put:
        let item = fragment()
        json.field("item") { $0.write(json: item) }
        json.field("op", "put")
      case .remove(let id, let reason):
        json.field("id", id)
        json.field("op", "remove")
        json.field("reason", reason.rawValue)
      }
    }
  }
}
