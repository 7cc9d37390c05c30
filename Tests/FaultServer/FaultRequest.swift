public import Foundation

/// A request as it was received, for handlers and assertions.
public struct FaultRequest: Sendable {
  /// The number of the connection, counted from 1.
  public var connection: Int
  /// The method as sent; not checked.
  public var method: String
  /// The path and query.
  public var target: String
  /// The version, such as `HTTP/1.1`.
  public var version: String
  /// The fields in the order of their arrival.
  public var headers: [(name: String, value: String)]
  /// The body without transfer coding.
  public var body: Data
  /// The time at which the head was complete, by the server's clock.
  public var arrival: Duration

  /// Creates a request, for example for a feed that is used without a server.
  public init(
    connection: Int = 1, method: String = "GET", target: String, version: String = "HTTP/1.1",
    headers: [(name: String, value: String)] = [], body: Data = Data(), arrival: Duration = .zero
  ) {
    self.connection = connection
    self.method = method
    self.target = target
    self.version = version
    self.headers = headers
    self.body = body
    self.arrival = arrival
  }

  /// The value of the first field with a name; nil if there is none.
  public subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The target up to the question mark.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// The parameters of the target without percent-encoding; the last value of a repeated name is kept.
  public var query: [String: String] {
    var query: [String: String] = [:]
    for part in target.dropFirst(path.count + 1).split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { text in
        text.removingPercentEncoding ?? String(text)
      }
      query[pair[0]] = pair.count < 2 ? "" : pair[1]
    }
    return query
  }

  /// Whether the request is conditional: it can be answered with 304.
  public var isConditional: Bool { self["If-None-Match"] != nil || self["If-Modified-Since"] != nil }

  /// Whether the client asks to close the connection after the response.
  var endsConnection: Bool {
    self["Connection"]?.lowercased() == "close" || version == "HTTP/1.0"
  }
}
