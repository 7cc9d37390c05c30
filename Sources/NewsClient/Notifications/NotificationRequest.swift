public import Foundation

/// A notification for the user, which is shown at once or at a date.
///
/// The counterpart of `UNNotificationRequest`.
///
///     var request = NotificationRequest(identifier: "ferry", title: "The ferry leaves", body: "Pier 3, in ten minutes")
///     request.deliveryDate = Date() + 3600
///     try await news.notifications.add(request)
public struct NotificationRequest: Sendable, Hashable, Codable {
  /// The importance of a notification. The counterpart of `UNNotificationInterruptionLevel`.
  ///
  ///     let urgent = NotificationRequest(identifier: "storm", title: "Storm", urgency: .critical)
  ///     try await news.notifications.add(urgent)
  public enum Urgency: String, Sendable, Hashable, Codable {
    /// May be shown without a sound, or in a list only.
    case low
    /// Is shown for some seconds.
    case normal
    /// Stays until the user closes it, and is delivered during quiet hours too.
    case critical
  }

  /// A button of a notification. The counterpart of `UNNotificationAction`.
  ///
  ///     var request = NotificationRequest(identifier: "tide", title: "High water in an hour")
  ///     request.actions = [.init(identifier: "later", title: "Later")]
  ///     try await news.notifications.add(request)
  public struct Action: Sendable, Hashable, Codable {
    /// The identifier, which ``NotificationActivation/action`` has after a tap.
    public var identifier: String
    /// The label.
    public var title: String

    /// Creates a button.
    public init(identifier: String, title: String) { (self.identifier, self.title) = (identifier, title) }
  }

  /// The identifier, by which a request is replaced and removed. Identifiers that begin with `item-` or `items-` are
  /// those of news.
  public var identifier: String
  /// The title in plain text. Presenters show one line.
  public var title: String
  /// The text in plain text; empty for none.
  public var body: String
  /// The importance.
  public var urgency: Urgency
  /// The category for the rules of a desktop, such as `x-harbour.tide`; nil for none.
  public var category: String?
  /// The date from which the notification is delivered; nil for now.
  public var deliveryDate: Date?
  /// The buttons. Not every desktop shows them.
  public var actions: [Action] = []

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - identifier: The identifier, by which the request is replaced and removed.
  ///   - title: The title in plain text.
  ///   - body: The text in plain text.
  ///   - urgency: The importance.
  ///   - category: The category for the rules of a desktop.
  ///   - deliveryDate: The date from which the notification is delivered; nil for now.
  public init(
    identifier: String, title: String, body: String = "", urgency: Urgency = .normal, category: String? = nil,
    deliveryDate: Date? = nil
  ) {
    self.identifier = identifier
    self.title = title
    self.body = body
    self.urgency = urgency
    self.category = category
    self.deliveryDate = deliveryDate
  }

  /// Decodes a request. One that an older version has stored has no buttons.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    identifier = try container.decode(String.self, forKey: .identifier)
    title = try container.decode(String.self, forKey: .title)
    body = try container.decode(String.self, forKey: .body)
    urgency = try container.decode(Urgency.self, forKey: .urgency)
    category = try container.decodeIfPresent(String.self, forKey: .category)
    deliveryDate = try container.decodeIfPresent(Date.self, forKey: .deliveryDate)
    actions = try container.decodeIfPresent([Action].self, forKey: .actions) ?? []
  }
}

/// A notification that was delivered.
///
/// The counterpart of `UNNotification`.
///
///     for notification in try news.notifications.delivered { print(notification.date, notification.request.title) }
public struct DeliveredNotification: Sendable, Hashable {
  /// The request.
  public var request: NotificationRequest
  /// The date of the delivery.
  public var date: Date
}
