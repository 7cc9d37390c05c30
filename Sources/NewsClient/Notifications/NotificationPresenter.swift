/// Shows notifications. ``DesktopNotifications`` is the presenter of Linux; an app on another platform passes its own.
///
///     struct TerminalPresenter: NotificationPresenter {
///       func present(_ request: NotificationRequest) async throws -> String? {
///         print("\u{7}", request.title, request.body)
///         return nil
///       }
///     }
public protocol NotificationPresenter: Sendable {
  /// Shows a notification. A call that takes longer than 10 seconds is cancelled, and repeated by a later delivery.
  ///
  /// - Returns: The handle by which the notification can be replaced and withdrawn; nil if it cannot be.
  /// - Throws: An error whose description is a sentence for the log. A later delivery shows the notification.
  func present(_ request: NotificationRequest) async throws -> String?
  /// Replaces a notification while it is shown. Nothing is shown if it is not shown any more.
  ///
  /// - Returns: The new handle; nil if nothing was replaced. A request of the app is presented then.
  /// - Throws: An error whose description is a sentence for the log. A later delivery repeats the replacement.
  func replace(_ handle: String, with request: NotificationRequest) async throws -> String?
  /// Withdraws a notification, if it is still shown.
  ///
  /// - Throws: An error whose description is a sentence for the log. A later delivery repeats the withdrawal.
  func withdraw(_ handle: String) async throws
  /// Returns the taps on notifications from now on. The stream ends if the presenter cannot report them at the moment.
  func taps() -> AsyncStream<NotificationTap>
}

extension NotificationPresenter {
  /// Replaces nothing: the notification stays as it is.
  public func replace(_ handle: String, with request: NotificationRequest) async throws -> String? { nil }

  /// Does nothing.
  public func withdraw(_ handle: String) async throws {}

  /// Reports nothing.
  public func taps() -> AsyncStream<NotificationTap> { AsyncStream { $0.finish() } }
}
