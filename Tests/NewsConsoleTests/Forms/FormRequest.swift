import HTTPTypes
import Hummingbird
import NIOCore
import NewsConsole
import Synchronization

/// A request with a form whose body arrives in chunks.
final class FormRequest: FormBodyContext {
  /// The connection has failed.
  struct ConnectionLost: Error {}

  private struct State {
    /// The chunks that were not read.
    var chunks: [[UInt8]]
    var isAwaited = false
    var isVerified = false
  }

  private let state: Mutex<State>
  private let headers: HTTPFields
  private let endsEarly: Bool
  private let fails: Bool

  /// - Parameters:
  ///   - endsEarly: Whether the connection ends before the body does.
  ///   - fails: Whether reading fails after the chunks.
  init(_ chunks: [[UInt8]], headers: HTTPFields, endsEarly: Bool = false, fails: Bool = false) {
    state = Mutex(State(chunks: chunks))
    self.headers = headers
    self.endsEarly = endsEarly
    self.fails = fails
  }

  /// A request with the fields of a form.
  convenience init(_ text: String, type: String? = "application/x-www-form-urlencoded", headers: HTTPFields = [:]) {
    var headers = headers
    headers[.contentType] = type
    self.init([Array(text.utf8)], headers: headers)
  }

  /// A request with a form whose boundary is `xyz`.
  convenience init(parts chunks: [[UInt8]], endsEarly: Bool = false, fails: Bool = false) {
    self.init(
      chunks, headers: [.contentType: "multipart/form-data; boundary=xyz"], endsEarly: endsEarly, fails: fails)
  }

  var request: Request {
    Request(
      head: HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/console", headerFields: headers),
      body: RequestBody(asyncSequence: Chunks(source: self)))
  }

  /// The number of chunks that were not read.
  var unreadChunks: Int { state.withLock { $0.chunks.count } }

  /// Whether the body was requested.
  var isAwaited: Bool { state.withLock { $0.isAwaited } }

  /// Whether it was verified that the body is complete.
  var isVerified: Bool { state.withLock { $0.isVerified } }

  func awaitBody() {
    state.withLock { $0.isAwaited = true }
  }

  func requireWholeBody() async throws {
    if endsEarly { throw ConnectionLost() }
    state.withLock { $0.isVerified = $0.chunks.isEmpty }
  }

  private func nextChunk() throws -> ByteBuffer? {
    let chunk = state.withLock { $0.chunks.isEmpty ? nil : $0.chunks.removeFirst() }
    if chunk == nil, fails { throw ConnectionLost() }
    return chunk.map { ByteBuffer(bytes: $0) }
  }

  private struct Chunks: AsyncSequence, Sendable {
    let source: FormRequest

    struct AsyncIterator: AsyncIteratorProtocol {
      let source: FormRequest

      func next() async throws -> ByteBuffer? { try source.nextChunk() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
  }
}
