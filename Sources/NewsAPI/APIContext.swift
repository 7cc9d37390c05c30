public import Hummingbird
import Logging

/// What accompanies a request on its way through the router.
public struct APIContext: RequestContext {
  /// What the framework keeps of the request.
  public var coreContext: CoreRequestContextStorage

  /// What the client is told and the log lines of the request say.
  let requestID: String

  /// Made by the server for each request.
  public init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    // The framework gives its logger an id. A handler that keeps no metadata loses it, which must not matter here.
    requestID = source.logger[metadataKey: "hb.request.id"]?.description ?? RequestID().description
  }
}
