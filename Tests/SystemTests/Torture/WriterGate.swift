import TestKit

/// A gate for writers, closed while the database is replaced or compared.
actor WriterGate {
  private var writing = 0
  private var isClosed = false
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var idle: CheckedContinuation<Void, Never>?

  /// Runs a write once the gate is open.
  nonisolated(nonsending) func pass(_ write: () async throws -> Void) async throws {
    await enter()
    try await withResource(self, release: { await $0.leave() }) { _ in try await write() }
  }

  private func enter() async {
    while isClosed { await withCheckedContinuation { waiters.append($0) } }
    writing += 1
  }

  private func leave() {
    writing -= 1
    if writing == 0, let idle = idle.take() { idle.resume() }
  }

  /// Runs the body while no write is in progress. Only one caller at a time may hold the gate.
  func hold<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
    isClosed = true
    if writing > 0 { await withCheckedContinuation { idle = $0 } }
    defer {
      isClosed = false
      for waiter in waiters { waiter.resume() }
      waiters = []
    }
    return try await body()
  }
}
