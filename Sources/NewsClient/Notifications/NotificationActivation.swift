public import Foundation

/// A tap of the user on a notification, or on one of its buttons.
///
/// The counterpart of `UNNotificationResponse`. Observers of ``NewsFetcher/activations`` receive it, also if the tap has
/// launched the app.
///
///     let observation = news.activations.add { activation in
///       if let id = activation.itemID { print("show \(id)") } else { print("show the list") }
///     }
public struct NotificationActivation: Sendable, Hashable, Codable {
  /// The action of a tap on the notification itself. The counterpart of `UNNotificationDefaultActionIdentifier`.
  public static let defaultAction = "default"

  /// The identifier of the notification; see ``NotificationRequest/identifier``.
  public var identifier: String
  /// The action: ``defaultAction``, or the identifier of a button of the request.
  public var action: String
  /// The token with which the desktop lets the app take the focus (`xdg-activation`, `XDG_ACTIVATION_TOKEN`); nil without one.
  public var token: String?

  /// Creates an activation.
  public init(identifier: String, action: String = defaultAction, token: String? = nil) {
    (self.identifier, self.action, self.token) = (identifier, action, token)
  }

  /// The item that the notification is about; nil if it is about several, or is not about news.
  public var itemID: UUID? {
    identifier.hasPrefix("item-") ? UUID(uuidString: String(identifier.dropFirst("item-".count))) : nil
  }
}

/// A tap as a presenter reports it.
///
///     let tap = NotificationTap(handle: "7", action: NotificationActivation.defaultAction)
///     print(tap.handle)
public struct NotificationTap: Sendable, Hashable {
  /// The handle of the notification, as the presenter has returned it.
  public var handle: String
  /// The action; see ``NotificationActivation/action``.
  public var action: String
  /// The token for the focus; see ``NotificationActivation/token``.
  public var token: String?

  /// Creates a tap.
  public init(handle: String, action: String, token: String? = nil) {
    (self.handle, self.action, self.token) = (handle, action, token)
  }
}
