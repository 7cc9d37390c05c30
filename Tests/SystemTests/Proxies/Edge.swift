import Foundation
import News
import TestSupport

/// The proxy through which responses reach readers.
enum Edge: String, CaseIterable, Sendable {
  case nginx, nginxWithoutCache, varnish

  var kind: Proxy.Kind { self == .varnish ? .varnish : .nginx }
  var hasCache: Bool { self != .nginxWithoutCache }

  static let installed = allCases.filter(\.kind.isInstalled)
  static let caches = installed.filter(\.hasCache)

  /// The maximum age of an outdated response after an acknowledged change: the sum of `s-maxage` and
  /// `stale-while-revalidate`, plus a margin for a busy machine.
  static let bound = Duration.seconds(12)
}

/// A server behind a proxy with the shipped configuration.
struct EdgeSetting: Sendable {
  let installation: Installation
  let server: RunningServer
  let proxy: TestClient
  /// The port of the proxy.
  let port: Int
  let key: String

  static func with(
    _ edge: Edge, limit: Proxy.Limit? = nil, _ body: @Sendable (EdgeSetting) async throws -> Void
  ) async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      try await installation.serve { server in
        let proxy = try await Proxy(edge.kind, servers: [server.port], cache: edge.hasCache, limit: limit)
        try await Proxy.with(proxy) { proxy in
          try await body(
            EdgeSetting(
              installation: installation, server: server, proxy: proxy.client, port: proxy.port, key: key))
        }
      }
    }
  }

  /// Sends a GET request through the proxy.
  func get(_ target: String, _ headers: (String, String)...) async throws -> TestResponse {
    try await proxy.send("GET", target, headers: headers)
  }

  /// Returns the proxy's response without a check against the contract.
  func undeclared(_ target: String) async throws -> TestResponse? {
    try await Self.undeclared(target, port: port)
  }

  static func undeclared(_ target: String, port: Int) async throws -> TestResponse? {
    let request = Data("GET \(target) HTTP/1.1\r\nHost: news.example\r\nConnection: close\r\n\r\n".utf8)
    return try await RawConnection.exchange([request], port: port, endsInput: false).first
  }

  /// Publishes an item through the proxy.
  ///
  /// - Returns: The id.
  func publish(_ text: String, date: String = "2026-01-01T00:00:00Z") async throws -> String {
    let answer = try await proxy.send(
      "POST", "/v1/editorial/items", key: key, body: #"{"date": "\#(date)", "text": "\#(text)"}"#)
    return try answer.json(EditorialItem.self, status: 201).item.id.uuidString.lowercased()
  }

  func retract(_ id: String) async throws {
    let answer = try await proxy.send(
      "DELETE", "/v1/editorial/items/" + id, key: key, headers: [("If-Match", "*")])
    guard answer.status == 204 else { throw Unexpected(description: "\(answer.status) to DELETE") }
  }

  /// Returns the number of requests for a route that have reached the server.
  ///
  /// - Parameter status: The status of the counted requests; nil for any.
  func requests(_ route: String, status: Int? = nil) async throws -> Int {
    let metrics = try await server.send("GET", "/metrics").text
    return metrics.split(separator: "\n").filter { line in
      line.hasPrefix("tidings_http_requests_total{") && line.contains("route=\"\(route)\"")
        && (status.map { line.contains("status=\"\($0)\"") } ?? true)
    }.compactMap { $0.split(separator: " ").last.flatMap { Int(Double($0) ?? 0) } }.reduce(0, +)
  }

  /// Returns the current token, from the server.
  func token() async throws -> SyncToken { try await server.send("GET", "/v1/changes").json(ChangeList.self).token }

  /// Returns the texts of the items in a list.
  func texts(_ target: String) async throws -> [String] {
    try await get(target).json(ItemList.self).items.map(\.text)
  }
}
