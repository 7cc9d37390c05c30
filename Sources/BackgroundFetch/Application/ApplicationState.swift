/// What the system lets the application do.
public enum ApplicationState: String, Sendable, Hashable, Codable {
  /// Somebody looks at it.
  case foreground
  /// It works for a limited time without being seen.
  case background
  /// It is in memory and does nothing, until it is woken.
  case suspended
}
