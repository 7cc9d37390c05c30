/// Why there is a fetch.
public enum FetchReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// It was time.
  case scheduled
  /// A remote notification asked for it.
  case push
  /// Somebody pulled to refresh, or asked on the command line.
  case manual
  /// The app was launched or came to the foreground.
  case launch
  /// A live connection told of news.
  case watch
}
