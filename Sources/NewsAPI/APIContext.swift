import HTTPEdge
public import Hummingbird
import Logging
import MediaFiles
import NIOCore
package import NetworkAddresses
package import NewsStore

/// The context of a request on its way through the router.
public struct APIContext: RequestContext {
  /// The framework's part of the context.
  public var coreContext: CoreRequestContextStorage

  /// The id of the request, in its log lines and in the response field `X-Request-Id`.
  package let requestID: String

  /// The record of the request, which all copies of the context share.
  package let record = RequestRecord()

  private let channel: any Channel

  /// Creates the context of a request. The server calls it for each request.
  public init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
    // The framework adds an id to its logger's metadata. A log handler without metadata loses it; a new id replaces it.
    requestID = source.logger[metadataKey: "hb.request.id"]?.description ?? RequestID().description
  }

  /// The address of the connection's peer; nil for a peer without an IP address.
  package var peer: IPAddress? { channel.remoteAddress.flatMap { IPAddress($0) } }

  /// Whether the client accepts bytes at present. Bytes sent anyway wait in memory.
  package var isWritable: Bool { channel.isWritable }

  /// Verifies that a body that was read to its end is complete. The framework ends the body of a request at the end of
  /// the connection too.
  ///
  /// - Throws: `ProblemError`, 400, if the connection ended before the body did.
  package func requireWholeBody() async throws {
    do {
      try await channel.triggerUserOutboundEvent(ConnectionHandler.Event.bodyReadEnded)
    } catch {
      throw ProblemError(bodyError: error)
    }
  }

  /// Creates a response body that `FileSender` sends from a range of a file, in bytes.
  func body(_ file: MediaFile, _ range: Range<Int>) -> ResponseBody {
    ResponseBody(contentLength: range.count) { [channel] writer in
      // The event reaches the pipeline before the next write.
      channel.triggerUserOutboundEvent(
        FileSender.Body(descriptor: file.descriptor, owner: file, range: range), promise: nil)
      try await writer.finish(nil)
    }
  }

  /// Requests the body: sends 100 (Continue) to a client that waits for it (RFC 9110 section 10.1.1). If the request
  /// fails earlier, such a client need not send its body.
  package func awaitBody() {
    channel.triggerUserOutboundEvent(ConnectionHandler.Event.bodyReadStarted, promise: nil)
  }
}

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
