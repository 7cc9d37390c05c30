import PostgresClient

extension NewsStore {
  /// Runs work on behalf of a party, such as a key. In the queues of the database, parties take turns, and no party has all
  /// connections. So a party with very many requests delays the others by one of its statements each.
  package static func onBehalf<Value>(of party: String, _ work: () async throws -> Value) async rethrows -> Value {
    try await QueueParty.$current.withValue(party, operation: work)
  }
}
