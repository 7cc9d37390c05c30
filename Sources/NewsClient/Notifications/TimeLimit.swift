import BackgroundFetch

/// The error of an operation that has exceeded its time limit.
struct TimeLimitExceeded: Error, CustomStringConvertible {
  let limit: Duration

  var description: String { "no response within \(Int(limit / .seconds(1))) s" }
}

/// Runs an operation, and cancels it at a time limit. An operation that continues nevertheless is not awaited.
///
/// - Throws: `TimeLimitExceeded`, and the errors of the operation.
func withTimeLimit<Value: Sendable>(
  _ limit: Duration, clock: any FetchClock, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let (results, continuation) = AsyncStream.makeStream(of: Result<Value, any Error>.self)
  let work = Task {
    do {
      continuation.yield(.success(try await operation()))
    } catch {
      continuation.yield(.failure(error))
    }
  }
  let timer = Task {
    guard (try? await clock.sleep(for: limit)) != nil else { return }
    continuation.yield(.failure(TimeLimitExceeded(limit: limit)))
  }
  defer {
    work.cancel()
    timer.cancel()
  }
  // The stream ends without a result only if the caller is cancelled.
  for await result in results { return try result.get() }
  throw CancellationError()
}
