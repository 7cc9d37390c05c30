public import Hummingbird
import NewsStore

/// What accompanies a request on its way through the router.
public struct APIContext: RequestContext {
  public var coreContext: CoreRequestContextStorage

  public init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
  }
}
