public import Hummingbird
import HummingbirdCore
public import Logging
public import NIOCore
import NewsStore
import ServiceLifecycle

extension NewsAPI {
  /// How many connections wait at most until they are accepted, as far as the kernel allows (net.core.somaxconn): phones
  /// wake up at the same time.
  private static let backlog = 4096

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
          hotAnswers: hotAnswers, polls: polls, streams: streams, onConnection: settings.onConnection)
      },
      configuration: ApplicationConfiguration(address: address, backlog: Self.backlog),
      onServerRunning: { channel in
        // It fails where the server has already ended.
        try? await channel.eventLoop.submit {
          try channel.pipeline.syncOperations.addHandler(AcceptPause(logger: logger), position: .first)
        }.get()
        await onServerRunning(channel)
      }, logger: logger)
    // The first requests find the state in memory. Without a database they are answered with 503.
    application.beforeServerStarts { [store] in _ = try? await store.present() }
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
