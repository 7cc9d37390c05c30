public import Foundation

/// A program that the server notifies of changes, as editors see it.
///
///     func needsAttention(_ webhook: Webhook) -> Bool {
///       webhook.disabledReason != nil || webhook.failingSince != nil
///     }
public struct Webhook: Sendable, Equatable, Codable {
  /// The type of an event that a webhook can receive.
  public enum Event: String, Sendable, Codable, CaseIterable {
    /// An item has appeared in the feed.
    case published = "item.published"
    /// A published item has another content.
    case changed = "item.changed"
    /// An item was retracted, or withdrawn to a draft.
    case retracted = "item.retracted"
    /// An item has expired.
    case expired = "item.expired"
  }

  /// The reason for which the server has paused a webhook.
  public enum DisabledReason: String, Sendable, Codable {
    /// The receiver has answered with the status 410.
    case gone
    /// All requests of five days have failed.
    case failing
  }

  /// The type of the events that editors send to test a receiver. Each webhook receives them.
  public static let testEvent = "webhook.test"

  /// The id.
  public var id: UUID
  /// The address in its normal form.
  public var url: String
  /// The types of the events, at least one.
  public var events: [Event]
  /// The topics of the items; nil for all items. An empty list, which no event fits, remains if all of them were
  /// deleted.
  public var topics: [String]?
  /// Whether nothing is sent.
  public var paused: Bool
  /// The reason for which the server has paused the webhook; nil if it has not.
  public var disabledReason: DisabledReason?
  /// The time of the creation.
  public var created: Date
  /// The time of the last success.
  public var lastSuccess: Date?
  /// The time of the first failure since the last success.
  public var failingSince: Date?
  /// The time until which the secret before the last rotation signs too; nil if there is none.
  public var previousSecretUntil: Date?
  /// The secret of the signatures, `whsec_` and base64. Only the answers to a creation and a rotation have it.
  public var secret: String?
  /// The number of writes by editors, rotations and pauses by the server, 1 or more.
  public var revision: Int

  /// Creates a webhook without validation.
  public init(
    id: UUID, url: String, events: [Event] = Event.allCases, topics: [String]? = nil, paused: Bool = false,
    disabledReason: DisabledReason? = nil, created: Date, lastSuccess: Date? = nil, failingSince: Date? = nil,
    previousSecretUntil: Date? = nil, secret: String? = nil, revision: Int
  ) {
    self.id = id
    self.url = url
    self.events = events
    self.topics = topics
    self.paused = paused
    self.disabledReason = disabledReason
    self.created = created
    self.lastSuccess = lastSuccess
    self.failingSince = failingSince
    self.previousSecretUntil = previousSecretUntil
    self.secret = secret
    self.revision = revision
  }
}

/// The body of `GET /v1/editorial/webhooks`.
///
///     let list = try NewsJSON.decode(WebhookList.self, from: Data(#"{"webhooks":[]}"#.utf8))
///     print(list.webhooks.count { $0.paused })  // 0
public struct WebhookList: Sendable, Equatable, Codable {
  /// The webhooks, oldest first.
  public var webhooks: [Webhook]

  /// Creates a list.
  public init(webhooks: [Webhook]) {
    self.webhooks = webhooks
  }
}

/// An event for a webhook, with the attempts to deliver it.
///
///     func lastStatus(_ delivery: WebhookDelivery) -> Int? { delivery.attempts.last?.status }
public struct WebhookDelivery: Sendable, Equatable, Codable {
  /// The state of a delivery.
  public enum State: String, Sendable, Codable {
    /// An attempt is to come.
    case due
    /// The receiver has accepted the event.
    case delivered
    /// All attempts have failed.
    case failed
  }

  /// The id, which is the value of `webhook-id` in all attempts.
  public var id: UUID
  /// The type of the event: a ``Webhook/Event`` or ``Webhook/testEvent``.
  public var event: String
  /// The item; nil for a test.
  public var item: UUID?
  /// The version of the item; nil for a test.
  public var version: Int?
  /// The state.
  public var state: State
  /// The time of the creation.
  public var created: Date
  /// The time of the next attempt, or of its repetition if one is under way; nil if there is none.
  public var nextAttempt: Date?
  /// The last attempts, at most 20, oldest first.
  public var attempts: [WebhookAttempt]

  /// Creates a delivery without validation.
  public init(
    id: UUID, event: String, item: UUID? = nil, version: Int? = nil, state: State, created: Date,
    nextAttempt: Date? = nil, attempts: [WebhookAttempt] = []
  ) {
    self.id = id
    self.event = event
    self.item = item
    self.version = version
    self.state = state
    self.created = created
    self.nextAttempt = nextAttempt
    self.attempts = attempts
  }
}

/// A request to a webhook.
///
///     func isTimeout(_ attempt: WebhookAttempt) -> Bool { attempt.status == nil && attempt.milliseconds >= 20_000 }
public struct WebhookAttempt: Sendable, Equatable, Codable {
  /// The number of the attempt, from 1.
  public var number: Int
  /// The time of the end of the attempt.
  public var at: Date
  /// The status of the response; nil without one.
  public var status: Int?
  /// The duration in milliseconds.
  public var milliseconds: Int
  /// The reason of a failure in words; nil for a success.
  public var error: String?

  /// Creates an attempt without validation.
  public init(number: Int, at: Date, status: Int? = nil, milliseconds: Int, error: String? = nil) {
    self.number = number
    self.at = at
    self.status = status
    self.milliseconds = milliseconds
    self.error = error
  }
}

/// A page of `GET /v1/editorial/webhooks/{id}/deliveries`.
///
///     let list = try NewsJSON.decode(WebhookDeliveryList.self, from: Data(#"{"deliveries":[]}"#.utf8))
///     print(list.deliveries.count { $0.state == .failed })  // 0
public struct WebhookDeliveryList: Sendable, Equatable, Codable {
  /// The deliveries, newest first.
  public var deliveries: [WebhookDelivery]

  /// Creates a list.
  public init(deliveries: [WebhookDelivery]) {
    self.deliveries = deliveries
  }
}
