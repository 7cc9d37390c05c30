/// The reason for the launch of the process. The counterpart of `UIApplication.LaunchOptionsKey`.
///
///     let application = ApplicationLifecycle(launchReason: .push)
///     if application.launchReason != .user { print("launched in the background") }
public enum LaunchReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// The user opened the application.
  case user
  /// A scheduled fetch was due.
  case fetch
  /// A remote notification arrived.
  case push
  /// The transfers of a session have ended.
  case transfer
  /// The user has tapped a notification.
  case notification
}
