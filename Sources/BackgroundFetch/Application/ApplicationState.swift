/// The state of the application. The counterpart of `UIApplication.State`.
///
///     let application = ApplicationLifecycle(launchReason: .fetch)
///     print(application.currentState)  // background
public enum ApplicationState: String, Sendable, Hashable, Codable {
  /// The application is visible.
  case foreground
  /// The application is not visible and works for a limited time.
  case background
  /// The application is in memory and does nothing until it is woken.
  case suspended
}
