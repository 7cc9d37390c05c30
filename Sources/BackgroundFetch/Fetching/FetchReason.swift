/// The reason of a fetch.
///
///     let reasons = FetchReason.allCases.filter { $0 != .manual }
///     print(reasons.map(\.rawValue))  // ["scheduled", "push", "launch", "watch"]
public enum FetchReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// The schedule was due.
  case scheduled
  /// A remote notification arrived.
  case push
  /// The user asked for it, by pull-to-refresh or on the command line.
  case manual
  /// The app was launched or came to the foreground.
  case launch
  /// A live connection announced news.
  case watch
}
