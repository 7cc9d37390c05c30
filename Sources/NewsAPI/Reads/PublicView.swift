package import Foundation
package import News
package import NewsStore

/// A kind of public response: its request, and how its content is found in memory or read. There is a type for each kind,
/// in the folder of its resource. A value is all that determines the content, so that equal ones share a response.
package protocol PublicView: Hashable, Sendable {
  /// The path pattern of the route.
  var route: String { get }

  /// The scope of the request, whose topics must exist.
  var scope: Scope { get }

  /// Whether the path names the topic, so that an unknown one is a 404.
  var hasTopicInPath: Bool { get }

  /// The part of the feed on which the response depends.
  var dependency: ResponseDependency { get }

  /// The token whose later changes are requested; nil if there is none that can expire.
  var since: SyncToken? { get }

  /// The id of the item that the response is about; nil for other responses.
  var itemID: UUID? { get }

  /// The scope whose newest items may suffice for the response; nil if they do not.
  var windowScope: Scope? { get }

  /// Whether clients poll the response.
  var isPolled: Bool { get }

  /// Whether the response is a page for readers, whose errors are pages too.
  var isPage: Bool { get }

  /// Returns whether a read of the database is costly, or most likely serves a single client: a search, a further page, a
  /// snapshot or old changes.
  ///
  /// - Parameter snapshot: The state from which the request is answered.
  func isUncommon(in snapshot: FeedSnapshot) -> Bool

  /// Returns the view from the state in memory; nil if the database must be read.
  func inMemory(_ snapshot: FeedSnapshot, _ sources: ViewSources) -> View?

  /// Reads the content of the view, without the fragments that its body consists of.
  ///
  /// - Parameter snapshot: The state that the content must have at least.
  /// - Throws: The errors of the store's queries; `ProblemError`.
  func load(from sources: ViewSources, in snapshot: FeedSnapshot) async throws -> View
}

extension PublicView {
  package var scope: Scope { .feed }
  package var hasTopicInPath: Bool { false }
  package var since: SyncToken? { nil }
  package var itemID: UUID? { nil }
  package var windowScope: Scope? { nil }
  package var isPolled: Bool { false }
  package var isPage: Bool { false }
  package func isUncommon(in snapshot: FeedSnapshot) -> Bool { false }
  package func inMemory(_ snapshot: FeedSnapshot, _ sources: ViewSources) -> View? { nil }

  fileprivate func isEqual(to other: any PublicView) -> Bool { (other as? Self) == self }
}

/// The sources of views.
package struct ViewSources: Sendable {
  let store: NewsStore
  /// nil if there are no pages for readers.
  let pages: PageViews?
  /// nil if there are no feeds.
  let feeds: FeedPublisher?
}

/// A view of any kind as the key of its response.
package struct ViewKey: Hashable, Sendable {
  package let view: any PublicView

  package init(_ view: some PublicView) { self.view = view }

  package static func == (one: ViewKey, other: ViewKey) -> Bool { one.view.isEqual(to: other.view) }

  package func hash(into hasher: inout Hasher) { view.hash(into: &hasher) }

  /// Whether an outdated response may be sent while the database does not respond. An outdated item is never sent: it may
  /// have been retracted or corrected.
  var mayBeStale: Bool { view.itemID == nil }
}

/// A public read: all that the target of a request says.
struct PublicRead: Sendable {
  let key: ViewKey
  /// The token of a state that must have been reached.
  let at: SyncToken?
  /// Whether the client waits for a change. A request that waits has done so before it is read (`LongPolls`).
  let isLongPoll: Bool

  init(_ view: some PublicView, at: SyncToken? = nil, isLongPoll: Bool = false) {
    key = ViewKey(view)
    self.at = at
    self.isLongPoll = isLongPoll
  }

  var view: any PublicView { key.view }
}
