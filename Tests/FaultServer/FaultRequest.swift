public import Foundation

/// A request as it came, for answers and for assertions.
public struct FaultRequest: Sendable {
  /// Which connection it came on, counted from 1.
  public var connection: Int
  /// As sent; nothing is checked.
  public var method: String
  /// Path and query.
  public var target: String
  /// Such as `HTTP/1.1`.
  public var version: String
  /// In the order in which they came.
  public var headers: [(name: String, value: String)]
  /// Without transfer coding.
  public var body: Data
  /// When its head was complete, by the server's clock.
  public var arrival: Duration

  /// A request, also for a feed that is asked without a server.
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

  /// The value of the first field of a name, nil where it is absent.
  public subscript(name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The target up to its question mark.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// The parameters of the target without percent-encoding; the last of a name counts.
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

  /// Whether it names a validator to be told "not modified".
  public var isConditional: Bool { self["If-None-Match"] != nil || self["If-Modified-Since"] != nil }

  /// Whether the client wants the connection to end behind the answer.
  var endsConnection: Bool {
    self["Connection"]?.lowercased() == "close" || version == "HTTP/1.0"
  }
}
