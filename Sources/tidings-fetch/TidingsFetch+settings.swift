import ArgumentParser
import BackgroundFetch
import Foundation
import HTTPTransfer
import NewsClient

extension TidingsFetch {
  /// The environment of the process, without the variables that are empty, which count as not set (XDG Base Directory
  /// Specification).
  static let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }

  /// The store that the options or the environment name.
  var location: StoreLocation {
    get throws { try StoreLocation(path: store, name: name, environment: Self.environment) }
  }

  /// The folder of the store.
  var folder: URL {
    get throws { try location.folder }
  }

  /// The settings of the store, without the options.
  ///
  /// - Throws: `ConfigFile.Failure` for a value that is not valid.
  var settings: StoreSettings {
    get throws {
      try StoreSettings(ConfigFile(environment: Self.environment), of: location, environment: Self.environment)
    }
  }

  /// The configuration file.
  ///
  /// - Throws: `ValidationError` without a home directory.
  static var configFile: ConfigFile {
    get throws {
      guard let file = ConfigFile(environment: environment) else {
        throw ValidationError("HOME is not set")
      }
      return file
    }
  }

  /// Returns the feed that the options and the settings name, or else the stored one.
  func feed(stored: FollowedFeed?, _ settings: StoreSettings) throws -> FollowedFeed {
    let given = server ?? settings[.server].flatMap { HTTPLocation(argument: $0) }
    guard let server = given?.url ?? stored?.server else {
      throw ValidationError(
        "Missing expected argument '--server <server>'; tidings-fetch config set server URL remembers it")
    }
    let topics = topics ?? settings[.topics].flatMap { TopicList(argument: $0) }
    return FollowedFeed(
      server: server, topics: topics?.slugs ?? stored?.topics ?? [],
      extent: window?.extent ?? stored?.extent ?? .window(100))
  }

  /// Returns the choices about notifications in the options and the settings, over the stored ones; nil if there are none.
  func notificationOptions(_ given: NotifyOptions?, _ settings: StoreSettings) throws -> NotificationOptions? {
    let folder = settings.location.folder
    var options: NotificationOptions?
    if settings[.notify] != nil || settings[.exec] != nil {
      var base = NewsFetcher.notificationOptions(in: folder)
      if let text = settings[.notify] { base.showsNews = Setting.isOn(text) ?? base.showsNews }
      if settings[.exec] != nil {
        base.program = settings.path(.exec).map { URL(programNamed: $0) ?? URL(filePath: $0) }
      }
      options = base
    }
    return try given?.options(over: options ?? NewsFetcher.notificationOptions(in: folder)) ?? options
  }

  /// Returns the transport with the proxies and certificate authorities of the options and the settings. If they cannot be
  /// used, its requests fail, because what is stored can still be read.
  func transport(_ settings: @autoclosure () throws -> StoreSettings) throws -> any HTTPTransport {
    do { return AsyncHTTPTransport(options: try connectionOptions(settings())) } catch let failure as ConfigFile.Failure
    {
      return UnusableTransport(reason: failure.description)
    }
  }

  /// - Throws: `ConfigFile.Failure`
  private func connectionOptions(_ settings: StoreSettings) throws -> ConnectionOptions {
    var options = ConnectionOptions()
    options.proxies = ProxySettings(environment: Self.environment)
    do {
      if let address = proxy ?? settings[.proxy] {
        let exceptions = options.proxies.exceptions
        options.proxies = address == "none" ? ProxySettings() : try ProxySettings(address: address)
        options.proxies.exceptions = exceptions
      }
      try options.useAuthorities(of: Self.environment)
      let file = caFile.map { $0 == "none" ? nil : $0 } ?? settings.path(.caFile)
      if let file { try options.trust(certificatesIn: URL(filePath: file)) }
    } catch let failure as ProxySettings.InvalidAddress {
      throw ConfigFile.Failure(description: failure.description)
    } catch let failure as ConnectionOptions.InvalidCertificates {
      throw ConfigFile.Failure(description: failure.description)
    }
    return options
  }

  /// Passes the options about connections on to the worker, whose command line other users could see.
  func exportConnection() {
    if let proxy { setenv("TIDINGS_FETCH_PROXY", proxy, 1) }
    if let caFile {
      let path = caFile == "none" ? caFile : URL(filePath: caFile).absoluteURL.path(percentEncoded: false)
      setenv("TIDINGS_FETCH_CA_FILE", path, 1)
    }
  }

  /// Applies the interval of the settings to the schedule. A failure is logged, because what is stored can still be read.
  func applyInterval(_ client: NewsFetcher, _ settings: StoreSettings) {
    guard let interval = settings[.interval].flatMap({ FetchInterval($0) }) else { return }
    do {
      if try client.schedule.interval != interval { try client.updateSchedule { $0.setInterval(interval) } }
    } catch {
      Output.log("cannot set the interval: \(error)")
    }
  }

  /// Replaces a value of the configuration file, which would otherwise replace the user's new choice.
  func replaceSetting(_ setting: Setting, by text: String) async throws {
    switch try settings.source(of: setting) {
    case .file: if let name = try location.name { try await Self.configFile.set(setting, of: name, to: text) }
    case .variable(let name): Output.log("\(name) is set, and is used instead")
    case nil: break
    }
  }

  /// Replaces the values of the configuration file by the user's new choices about notifications.
  func replaceSettings(_ notify: NotifyOptions) async throws {
    if let isOn = notify.notify { try await replaceSetting(.notify, by: isOn ? "on" : "off") }
    if let program = notify.exec { try await replaceSetting(.exec, by: program) }
  }
}

/// A transport that cannot connect, because its settings are wrong.
private struct UnusableTransport: HTTPTransport {
  let reason: String

  func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
    throw HTTPTransportError(.untrusted, reason)
  }

  func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse { try await get(url, headers: headers) }

  func send(
    _ content: Data, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse { try await get(url, headers: headers) }
}
