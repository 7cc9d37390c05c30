public import HTTPTypes
public import Hummingbird
public import News
public import NewsAPI
public import NewsFollower
import NewsStore

/// The newsroom in a browser: pages under `/console` for people who write. They work on the store of an API, under its
/// rules and with its errors.
///
///     let console = NewsConsole(api: api, settings: .init())
///     let application = api.application(
///       address: address, logger: logger, modules: [console], onServerRunning: { _ in })
public struct NewsConsole: RouteModule {
  /// The settings of the console. Those of the API determine the public URL, the language and the trusted proxies.
  public struct Settings: Sendable {
    /// The maximum number of attempts to sign in from a client's address per minute, 1 or more.
    public var signInsPerMinute = 10
    /// The interval between two events of the live page.
    package var liveInterval: Duration = .seconds(2)
    /// The maximum number of live pages that are refreshed at a time, 1 or more.
    package var maximumLiveStreams = 16
    /// The maximum number of live pages of a key, 1 or more, so that one key cannot take the pages of all others.
    package var maximumLiveStreamsPerKey = 4
    /// The time for which the client of a live page may read nothing. It misses the events of that time.
    package var maximumLiveStall: Duration = .seconds(30)
    /// Reads the feed of a new subscription; nil to subscribe without a preview. Its client must outlive the server.
    public var feedPreviewer: FeedPreviewer?

    /// Creates settings with default values.
    public init() {}
  }

  let services: ConsoleServices

  /// Creates a console over an API, which must outlive it.
  public init(api: NewsAPI, settings: Settings = Settings()) {
    services = ConsoleServices(api, settings)
  }

  /// The first segment of all paths.
  public var root: String { ConsolePath.root }

  /// Registers the routes of the console.
  public func addRoutes(to router: Router<APIContext>) {
    ConsoleRoutes(services: services).add(to: router)
  }

  /// Returns the page of an error.
  public func errorPage(of problem: Problem, headers: HTTPFields) -> (fields: HTTPFields, text: String) {
    services.pages.errorPage(of: problem, headers: headers)
  }

  /// Returns the token of a session that was found lately.
  public func editor(of request: HTTPRequest) -> String? {
    guard request.path?.utf8.starts(with: root.utf8) ?? false,
      let token = services.cookie.token(in: request.headerFields)
    else { return nil }
    return services.store.isKnownSession(token: token) ? token : nil
  }
}
