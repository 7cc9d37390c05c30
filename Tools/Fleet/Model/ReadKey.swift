/// The key of a response in a cache: what the query of a read says.
struct ReadKey: Hashable, Comparable {
  /// The number of the scope.
  var scope: Int
  /// The token of `since` in `/v1/changes`; nil for the first page of `/v1/items`.
  var since: Int?
  /// The token of `at`; nil without one.
  var at: Int?

  static func < (first: ReadKey, second: ReadKey) -> Bool {
    (first.scope, first.since ?? -1, first.at ?? -1) < (second.scope, second.since ?? -1, second.at ?? -1)
  }
}
