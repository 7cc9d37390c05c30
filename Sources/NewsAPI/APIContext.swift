public import Hummingbird
import Logging
import MediaFiles
import NIOCore

/// What accompanies a request on its way through the router.
public struct APIContext: RequestContext {
  /// What the framework keeps of the request.
  public var coreContext: CoreRequestContextStorage

  /// What the client is told and the log lines of the request say.
  let requestID: String

  /// Where it is counted what an answer saves; nil outside of `RequestMetrics`.
  var metrics: APIMetrics?

  /// Shared by all copies of the context.
  let record = RequestRecord()

  private let channel: any Channel

  /// Made by the server for each request.
  public init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
    // The framework gives its logger an id. A handler that keeps no metadata loses it, which must not matter here.
    requestID = source.logger[metadataKey: "hb.request.id"]?.description ?? RequestID().description
  }

  /// The other end of the connection; nil for one that has no address.
  var peer: IPAddress? { channel.remoteAddress.flatMap { IPAddress($0) } }

  /// Makes sure that a body that was read to its end was all that the client has to send.
  ///
  /// - Throws: 400.
  func requireWholeBody() async throws {
    do {
      try await channel.triggerUserOutboundEvent(RequestGuard.Event.bodyTaken)
    } catch {
      throw ProblemError(bodyError: error)
    }
  }

  /// A body of bytes of a file.
  func body(_ file: MediaFile, _ range: Range<Int>) -> ResponseBody {
    ResponseBody(contentLength: range.count) { [channel] writer in
      // It reaches the pipeline before what is written next.
      channel.triggerUserOutboundEvent(FileSender.Body(file: file, range: range), promise: nil)
      try await writer.finish(nil)
    }
  }

  /// Tells a client that waits for it to send the body (RFC 9110 section 10.1.1). A request that fails before costs it
  /// no body.
  func awaitBody() {
    channel.triggerUserOutboundEvent(RequestGuard.Event.bodyWanted, promise: nil)
  }
}
