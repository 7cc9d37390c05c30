/// Runs the body with a resource and releases the resource afterwards, whether the body returns or throws.
///
///     let descriptor = try Loopback.connect(to: port)
///     try await withResource(FileHandle(fileDescriptor: descriptor), release: { try $0.close() }) { connection in
///       try connection.write(contentsOf: Data("GET / HTTP/1.1".utf8))
///     }
///
/// - Parameter release: The end of the use, such as closing a connection or deleting a folder.
/// - Returns: The value of the body.
/// - Throws: The error of the body, or else that of the release.
public func withResource<Resource: Sendable, Value>(
  _ resource: Resource, isolation: isolated (any Actor)? = #isolation, release: (Resource) async throws -> Void,
  _ body: (Resource) async throws -> Value
) async throws -> Value {
  let outcome: Result<Value, any Error>
  do { outcome = .success(try await body(resource)) } catch { outcome = .failure(error) }
  do { try await release(resource) } catch {
    if case .success = outcome { throw error }
  }
  return try outcome.get()
}

/// Runs the body while work that ends only by its cancellation is under way, and waits for its end.
///
///     let clock = ManualClock()
///     try await whileRunning({ try? await clock.sleep(for: .seconds(60)) }) {
///       try await eventually("it sleeps") { !clock.sleeping.isEmpty }
///     }
///
/// - Returns: The value of the body.
/// - Throws: The error of the body.
public func whileRunning<Value>(
  _ work: @escaping @Sendable () async -> Void, isolation: isolated (any Actor)? = #isolation,
  _ body: () async throws -> Value
) async throws -> Value {
  try await withResource(
    Task { await work() },
    release: { task in
      task.cancel()
      await task.value
    }, { _ in try await body() })
}
