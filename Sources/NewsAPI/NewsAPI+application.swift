public import Hummingbird
import HummingbirdCore
public import Logging
public import NIOCore
import ServiceLifecycle

extension NewsAPI {
  /// The server of the API, to be run as a service.
  ///
  /// - Parameter onServerRunning: Called with the listening channel once there is one.
  public func application(
    address: BindAddress, logger: Logger, onServerRunning: @escaping @Sendable (any Channel) async -> Void
  ) -> some ApplicationProtocol {
    let addressLimits = settings.requestsPerAddress.map {
      AddressLimits(RequestRate(perMinute: $0), proxies: settings.trustedProxies, logger: logger)
    }
    var application = Application(
      router: router(),
      server: HTTPServerBuilder {
        GuardedChannel(
          responder: $0, limits: settings.limits, addressLimits: addressLimits, metrics: counted,
          hotAnswers: hotAnswers, polls: polls, streams: streams)
      },
      configuration: ApplicationConfiguration(address: address), onServerRunning: onServerRunning, logger: logger)
    application.addServices(LiveService(polls: polls, streams: streams))
    return application
  }
}

/// Tells those who wait.
private struct LiveService: Service {
  let polls: LongPolls
  let streams: EventStreams

  func run() async {
    await cancelWhenGracefulShutdown {
      async let polling: Void = polls.run()
      async let streaming: Void = streams.run()
      _ = await (polling, streaming)
    }
  }
}
