package import Hummingbird
package import NIOCore

/// The parts of a request's body. The end is reached only if the whole body has arrived.
package struct RequestParts: AsyncSequence {
  package typealias Element = ByteBuffer

  private let body: RequestBody
  private let context: APIContext

  /// Requests the body.
  package init(_ request: Request, _ context: APIContext) {
    body = request.body
    self.context = context
    context.awaitBody()
  }

  package func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(parts: body.makeAsyncIterator(), context: context)
  }

  package struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var parts: RequestBody.AsyncIterator
    fileprivate let context: APIContext

    /// - Throws: `ProblemError` if the body is truncated, or took too long to arrive.
    package mutating func next() async throws -> ByteBuffer? {
      let part: ByteBuffer?
      do { part = try await parts.next() } catch { throw ProblemError(bodyError: error) }
      if part == nil { try await context.requireWholeBody() }
      return part
    }
  }
}
