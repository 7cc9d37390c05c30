import HTTPEdge
import HTTPTypes
public import Hummingbird
import HummingbirdCore
public import Logging
public import NIOCore
import NewsStore
import ServiceLifecycle

extension NewsAPI {
  /// The maximum number of connections that wait to be accepted, within the kernel's limit (net.core.somaxconn). It is
  /// large because many phones wake up at the same time.
  private static let backlog = 4096

  /// Creates the server of the API, to be run as a service.
  ///
  /// - Parameters:
  ///   - modules: Further modules that add routes, such as the console.
  ///   - onServerRunning: Called with the channel of the listening socket once the server listens.
  public func application(
    address: BindAddress, logger: Logger, modules: [any RouteModule] = [],
    onServerRunning: @escaping @Sendable (any Channel) async -> Void
  ) -> some ApplicationProtocol {
    let services = services(logger, modules)
    var application = Application(
      router: router(with: modules),
      server: HTTPServerBuilder { EdgeChannel(services: services, responder: $0) },
      configuration: ApplicationConfiguration(address: address, backlog: Self.backlog),
      onServerRunning: { channel in
        // This fails if the server has already stopped.
        try? await channel.eventLoop.submit {
          try channel.pipeline.syncOperations.addHandler(AcceptBackoff(logger: logger), position: .first)
        }.get()
        await onServerRunning(channel)
      }, logger: logger)
    // The first requests find the state in memory. Without a database, they are answered with 503.
    application.beforeServerStarts { [store] in _ = try? await store.snapshot() }
    application.addServices(LiveService(polls: polls, streams: streams, traffic: traffic))
    return application
  }

  /// The settings and services of all connections.
  private func services(_ logger: Logger, _ modules: [any RouteModule]) -> EdgeServices {
    var services = EdgeServices(responder: earlyRoutes) { refusal, head in
      ProblemError.response(to: refusal, head, modules)
    }
    services.limits = settings.limits
    services.addressLimits = settings.requestsPerAddress.map {
      AddressLimits(
        RequestRate(perMinute: $0), proxies: settings.trustedProxies, unlimitedPaths: APIPath.monitoring
      ) { peer in
        logger.warning(
          "requests from private networks are not limited: name the proxies in TIDINGS_TRUSTED_PROXIES",
          metadata: ["peer": "\(peer)"])
      }
    }
    services.executor = { executor(of: $0, modules) }
    services.onRefusal = counted.countRefusal
    services.onLimitedRequest = counted.addressLimited
    services.connections = connections
    services.onConnection = settings.onConnection
    return services
  }
}

extension NewsAPI {
  /// Returns the executor of the handler of a request; nil for the thread of its event loop.
  private func executor(of request: HTTPRequest, _ modules: [any RouteModule]) -> (any TaskExecutor)? {
    let token = AuthorizationMiddleware.bearerToken(request.headerFields)
    if let editor = token.flatMap(store.knownKey) ?? modules.lazy.compactMap({ $0.editor(of: request) }).first {
      return Self.isBrief(request) ? nil : HandlerThreads.editors.executor(for: editor)
    }
    // Bytes are compared: a comparison of characters takes quadratic time in their combining characters.
    let target = (request.path ?? "").utf8
    let isPublicRead =
      [.get, .head].contains(request.method) && !target.starts(with: APIPath.editorial.utf8)
      && !modules.contains { target.starts(with: $0.root.utf8) }
    return isPublicRead ? globalConcurrentExecutor : HandlerThreads.strangers.executor(for: nil)
  }
}

/// Releases long polls, sends events and reads the counters of requests until the server shuts down.
private struct LiveService: Service {
  let polls: LongPolls
  let streams: EventStreams
  let traffic: TrafficHistory

  func run() async {
    await cancelWhenGracefulShutdown {
      async let polling: Void = polls.run()
      async let streaming: Void = streams.run()
      async let sampling: Void = traffic.run()
      _ = await (polling, streaming, sampling)
    }
  }
}
