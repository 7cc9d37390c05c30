import Foundation
import Logging
import PostgresClient
import Synchronization

/// The requests with an `Idempotency-Key` that this process carries out.
final class RunningRequests: Sendable {
  private let ids = Mutex<Set<Data>>([])
  /// Limits their transactions, so that they leave connections to other writes and to reads.
  let limiter: ConcurrencyLimiter

  init(_ pool: PostgresPoolConfiguration) {
    limiter = ConcurrencyLimiter(
      limit: max(1, min(4, pool.size / 2)), maximumWaiters: pool.maximumWaiters, timeout: pool.acquireTimeout)
  }

  func insert(_ request: RepeatableRequest) -> Bool { ids.withLock { $0.insert(request.id).inserted } }
  func remove(_ request: RepeatableRequest) { ids.withLock { _ = $0.remove(request.id) } }
}

extension NewsStore {
  /// The interval at which old answers are purged.
  static let answerPurgeInterval: Duration = .seconds(60)
  /// The maximum number of answers that a statement purges.
  private static let answerChunk: Int32 = 500
  private static let resolutionStep: Duration = .milliseconds(100)

  /// Checks that a request was not carried out yet. Writes check it again; it is to be called before reads whose result
  /// the request's own effect may change.
  ///
  /// - Throws: `AnsweredBefore`, `StoreError.idempotencyKeyReused`, `answerErased`.
  public func requireUnanswered(_ request: RepeatableRequest?) async throws {
    guard let request else { return }
    do {
      try request.check(try await database.query(request.lookup))
    } catch let answered as AnsweredBefore {
      // The next read of this process shows the effect too, whichever process has made it.
      if answered.version > 0 { try await waitForState(answered.version) } else { try await waitForTopics() }
      throw answered
    }
  }

  /// Runs a transaction whose answer is stored, if the request may be repeated.
  ///
  /// - Throws: `AnsweredBefore`, `StoreError.requestInProgress`, `idempotencyKeyReused`, `answerErased`, and the errors of
  ///   the transaction, after which nothing is stored.
  func transaction<Result: Sendable>(
    _ write: RepeatableWrite<Result>?, _ body: @Sendable (PostgresTransaction) async throws -> Result
  ) async throws -> Result {
    try await once(write?.request) {
      try await database.transaction { transaction in
        try await write?.request.claim(in: transaction)
        let result = try await body(transaction)
        if let write { _ = try await transaction.query(try write.request.insertion(of: try write.answer(result))) }
        return result
      }
    }
  }

  /// Runs the transaction of a request.
  ///
  /// - Parameter body: A transaction that claims the request. It runs again if its outcome is unknown. If it was committed,
  ///   the claim finds its answer.
  func once<Result: Sendable>(
    _ request: RepeatableRequest?, _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    guard let request else { return try await body() }
    try await requireUnanswered(request)
    guard runningRequests.insert(request) else { throw StoreError.requestInProgress }
    defer { runningRequests.remove(request) }
    return try await runningRequests.limiter.run {
      do {
        return try await body()
      } catch StoreError.outcomeUnknown {
        return try await resolve(request, body)
      }
    }
  }

  private func resolve<Result: Sendable>(
    _ request: RepeatableRequest, _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    let end = ContinuousClock.now + writeContext.resolutionTime
    while !Task.isCancelled, .now < end {
      try? await Task.sleep(for: Self.resolutionStep)
      do {
        try await requireUnanswered(request)
        return try await body()
      } catch var answered as AnsweredBefore {
        answered.isRepetition = false
        throw answered
      } catch StoreError.outcomeUnknown, StoreError.unavailable, StoreError.writesRefused, StoreError.requestInProgress
      {
        // The database may be about to restart, or the transaction still runs.
      }
    }
    throw StoreError.outcomeUnknown
  }

  /// Deletes the answers that are older than 24 hours by the database's clock.
  package func purgeAnswers() async throws {
    let chunk: PostgresQuery = """
      DELETE FROM idempotency_answers WHERE request IN (
        SELECT a.request FROM idempotency_answers AS a WHERE a.created_at <= clock_timestamp() - interval '24 hours'
        ORDER BY a.created_at LIMIT \(Self.answerChunk) FOR UPDATE SKIP LOCKED)
      """
    while try await scheduleDatabase.query(chunk).affected == Int(Self.answerChunk) {}
  }
}
