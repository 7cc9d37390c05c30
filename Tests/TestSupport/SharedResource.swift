package import Testing

/// A trait with which the cases of a parameterised test, or the tests of a suite, use one resource, such as a server. It
/// saves most of their time if they leave the resource as it was.
///
///     @Test("An unknown path is not found", .sharedServer, arguments: ["/x", "/v1/x"])
///     func unknown(path: String) async throws {
///       try await TestServer.withShared { server in #expect(try await server.get(path).status == 404) }
///     }
package struct SharedResource<Resource: Sendable>: TestTrait, SuiteTrait, TestScoping {
  private let current: TaskLocal<Resource?>
  private let with: @Sendable (_ body: @Sendable (Resource) async throws -> Void) async throws -> Void

  /// Creates a trait.
  ///
  /// - Parameters:
  ///   - current: The task-local value in which the tests find the resource.
  ///   - with: A function that runs a body with a new resource.
  package init(
    _ current: TaskLocal<Resource?>,
    with: @escaping @Sendable (_ body: @Sendable (Resource) async throws -> Void) async throws -> Void
  ) {
    self.current = current
    self.with = with
  }

  package func scopeProvider(for test: Test, testCase: Test.Case?) -> SharedResource? {
    testCase == nil ? self : nil
  }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await with { resource in try await current.withValue(resource) { try await function() } }
  }
}

extension Trait where Self == SharedResource<TestServer> {
  /// One server with the default settings for all cases, which receive it from `TestServer.withShared`.
  package static var sharedServer: Self { SharedResource(TestServer.$shared) { try await TestServer.with($0) } }
}
