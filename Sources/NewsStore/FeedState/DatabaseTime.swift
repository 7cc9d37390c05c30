import Synchronization

/// Adds up how long a task waits for the database: for connections and for statements, those of answers in the making that
/// it was the first to ask for among them.
public final class DatabaseTime: Sendable {
  /// Where the statements of the present task are counted; nil where nobody wants to know.
  @TaskLocal public static var current: DatabaseTime?

  private let nanoseconds = Atomic<Int64>(0)

  /// One that begins at zero.
  public init() {}

  /// The time so far; statements that ran side by side are counted one after the other.
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
