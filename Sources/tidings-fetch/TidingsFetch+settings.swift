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

  /// Returns the settings of the store.
  ///
  /// - Parameter options: The values of the options of the command.
  /// - Throws: `FetchError` for a value that is not valid, and for a store that cannot be used.
  func settings(_ options: [Setting: String] = [:]) throws -> StoreSettings {
    try Self.checkAccess(folder)
    let all: [Setting: String?] = [.server: server, .topics: topics, .window: window, .proxy: proxy, .caFile: caFile]
    return try StoreSettings(
      of: location, options: options.merging(all.compactMapValues(\.self)) { $1 }, environment: Self.environment)
  }

  /// Returns the transport with the proxies and certificate authorities of the settings. If they cannot be used, its requests
  /// fail, because what is stored can still be read.
  func transport(_ settings: @autoclosure () throws -> StoreSettings) throws -> any HTTPTransport {
    do { return AsyncHTTPTransport(options: try connectionOptions(settings())) } catch {
      let reason = (error as? FetchError)?.message ?? "\(error)"
      return LocalTransport { throw HTTPTransportError(.untrusted, reason) }
    }
  }

  private func connectionOptions(_ settings: StoreSettings) throws -> ConnectionOptions {
    var options = ConnectionOptions()
    options.proxies = ProxySettings(environment: Self.environment)
    if let address = settings.values[.proxy] {
      let exceptions = options.proxies.exceptions
      options.proxies = address == "none" ? ProxySettings() : try ProxySettings(address: address)
      options.proxies.exceptions = exceptions
    }
    try options.useAuthorities(of: Self.environment)
    if let file = settings.values[.caFile], file != "none" { try options.trust(certificatesIn: URL(filePath: file)) }
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
}

/// A transport that sends no requests.
struct LocalTransport: HTTPTransport {
  /// Returns the response to any request.
  let respond: @Sendable () async throws -> HTTPTransportResponse

  func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse { try await respond() }

  func upload(
    _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse { try await respond() }

  func send(
    _ content: Data, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse { try await respond() }
}
