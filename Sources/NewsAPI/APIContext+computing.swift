package import NewsStore

extension APIContext {
  /// Computes something from the request or for its response, on the threads of `ComputePool` unless the request is small.
  ///
  /// - Parameters:
  ///   - kind: The queue.
  ///   - bytes: The size of what is worked on; nil for that of the body. A request without a body is never small, because
  ///     its response need not be.
  /// - Throws: The errors of `ComputePool.run` and of the function.
  package func compute<Value: Sendable>(
    _ kind: ComputeKind = .editing, bytes: Int? = nil, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await ComputePool.shared.run(kind, for: computingOwner, bytes: bytes ?? record.bodyBytes, work)
  }

  /// The owner of the work for the request: its key. All requests without a key have the same owner.
  package var computingOwner: String { record.key?.id ?? "" }
}
