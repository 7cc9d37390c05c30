import Synchronization

/// The time that a task waits for the database: for connections and for statements, including those of cache loads that
/// it started.
public final class DatabaseTime: Sendable {
  /// The counter for the statements of the current task; nil if they are not measured.
  @TaskLocal public static var current: DatabaseTime?

  private let nanoseconds = Atomic<Int64>(0)

  /// Creates a counter at zero.
  public init() {}

  /// The time so far. Each of several concurrent statements counts in full.
  public var total: Duration { .nanoseconds(nanoseconds.load(ordering: .relaxed)) }

  static func measuring<Result>(_ body: () async throws -> Result) async throws -> Result {
    guard let current else { return try await body() }
    let start = ContinuousClock.now
    defer {
      let passed = (ContinuousClock.now - start) / .nanoseconds(1)
      current.nanoseconds.wrappingAdd(Int64(passed), ordering: .relaxed)
    }
    return try await body()
  }
}
