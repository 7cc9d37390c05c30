public import Hummingbird
import HummingbirdCore
public import Logging
public import NIOCore

extension NewsAPI {
  /// The server of the API, to be run as a service.
  ///
  /// - Parameter onServerRunning: Called with the listening channel once there is one.
  public func application(
    address: BindAddress, logger: Logger, onServerRunning: @escaping @Sendable (any Channel) async -> Void
  ) -> some ApplicationProtocol {
    Application(
      router: router(),
      server: HTTPServerBuilder {
        GuardedChannel(responder: $0, limits: settings.limits, metrics: counted, hotAnswers: hotAnswers)
      },
      configuration: ApplicationConfiguration(address: address), onServerRunning: onServerRunning, logger: logger)
  }
}
