import News

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
