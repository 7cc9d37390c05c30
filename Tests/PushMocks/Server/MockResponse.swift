public import NIOHTTP1

/// A response of a mock.
public struct MockResponse: Sendable {
  /// The status.
  public var status: Int
  /// The fields, without those of the connection.
  public var headers: HTTPHeaders
  /// The body.
  public var body: String

  /// Creates a response.
  public init(status: Int, headers: HTTPHeaders = [:], body: String = "") {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Creates a JSON response.
  static func json(_ body: String, status: Int = 200, headers: HTTPHeaders = [:]) -> MockResponse {
    var headers = headers
    headers.add(name: "content-type", value: "application/json; charset=UTF-8")
    return MockResponse(status: status, headers: headers, body: body)
  }

  /// Returns the response with `Retry-After`.
  public func retry(after seconds: Int) -> MockResponse {
    var response = self
    response.headers.replaceOrAdd(name: "retry-after", value: "\(seconds)")
    return response
  }
}

/// A complete request to a mock.
struct MockRequest: Sendable {
  var method: HTTPMethod
  /// The path with the query.
  var path: String
  var headers: HTTPHeaders
  var body: [UInt8]
  /// The number of the connection, from 1.
  var connection: Int

  /// The value of a field; nil if it is absent.
  func field(_ name: String) -> String? { headers.first(name: name) }
}
