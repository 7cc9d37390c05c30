public import Foundation
public import News

/// The editable content of a webhook. The caller has validated each field.
public struct WebhookContent: Sendable, Equatable {
  /// The address in its normal form.
  public var url: String
  /// The types of the events, in the order of their declaration and without duplicates.
  public var events: [Webhook.Event]
  /// Sorted slugs without duplicates; nil for all items.
  public var topics: [String]?
  /// Whether nothing is sent.
  public var paused: Bool

  /// Creates content.
  public init(
    url: String, events: [Webhook.Event] = Webhook.Event.allCases, topics: [String]? = nil, paused: Bool = false
  ) {
    self.url = url
    self.events = events
    self.topics = topics
    self.paused = paused
  }

  /// The current content of a webhook.
  public init(_ webhook: Webhook) {
    self.init(url: webhook.url, events: webhook.events, topics: webhook.topics, paused: webhook.paused)
  }
}

/// The secret of a webhook's signatures: `whsec_` and base64 of 24 to 64 bytes (Standard Webhooks, "Signature scheme").
public struct WebhookSecret: Sendable, Equatable {
  /// The number of bytes of a new secret.
  private static let byteCount = 32
  private static let prefix = "whsec_"
  private static let byteCounts = 24...64

  /// The secret as its receiver has it.
  public let text: String
  /// The key of the signatures.
  public let key: Data

  /// Creates a random secret.
  public static func random() -> WebhookSecret { WebhookSecret(key: Data([UInt8].random(byteCount))) }

  private init(key: Data) {
    self.key = key
    text = Self.prefix + key.base64EncodedString()
  }

  /// Parses a secret.
  ///
  /// - Returns: nil for a text without the prefix, for wrong base64, and for a key of another length.
  public init?(_ text: String) {
    guard text.hasPrefix(Self.prefix), let key = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
      Self.byteCounts ~= key.count
    else { return nil }
    self.text = text
    self.key = key
  }
}
