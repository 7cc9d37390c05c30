/// What the process was started for.
public enum LaunchReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// Somebody opened the application.
  case user
  /// A scheduled fetch was due.
  case fetch
  /// A remote notification arrived.
  case push
}
