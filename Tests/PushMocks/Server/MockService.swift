/// The rules of a push service.
protocol MockService: Sendable {
  /// The protocols that the service offers, as names of ALPN.
  var protocols: [String] { get }
  /// The maximum number of concurrent streams on a connection.
  var maximumStreams: Int { get }

  /// Checks a request, as the documentation of the service states it.
  func judgement(of request: MockRequest) -> MockJudgement
}

/// The outcome of the checks of a request.
enum MockJudgement {
  /// A message that is accepted with this response.
  case accepted(ReceivedMessage, MockResponse)
  /// A request that breaks a rule, with the documented response.
  case refused(rule: String, MockResponse)
  /// A request for something else, such as an access token, with the faults that apply to it. It is not recorded.
  case other(ReceivedMessage, MockResponse, MockFaults)
}
