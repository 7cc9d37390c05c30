public import Foundation
public import News

/// A message to one device, which a process has leased and has to send before the end of its lease.
public struct PushMessage: Sendable {
  /// The purpose of a message.
  public enum Kind: String, Sendable, CaseIterable {
    /// It wakes the app and shows nothing.
    case silent
    /// It shows an item.
    case alert
    /// It carries the code with which a device proves that it receives the messages of its address.
    case confirmation
  }

  /// The push of which the message is a part. Of a confirmation or a test, it is an id that no push has.
  public let push: UUID
  /// The purpose.
  public let kind: Kind
  /// The device.
  public let device: UUID
  /// The address. It must not be logged.
  public let target: PushTarget
  /// The receiver at the device.
  public let deviceKind: DeviceKind
  /// The content.
  public internal(set) var content: PushContent
  /// Whether the device is asked to report its token.
  public let asksForReport: Bool
  /// The number of earlier attempts that have failed.
  public let attempts: Int
  /// The time of the last registration of the address. A provider may know since when it is gone.
  public let registeredAt: Date
  /// Whether the service has accepted a message to this address before, and the device has confirmed it if it must. Anyone can
  /// register another address, so its refusal says nothing about the keys of the server.
  public let isProven: Bool
  /// The time since which the message could have been sent, for the metrics of its delay; nil for a confirmation or a test.
  public let dueAt: Date?
  /// The lease. Its outcome counts as long as no other process has leased the message.
  public let lease: UUID

  /// Creates a message.
  public init(
    push: UUID, kind: Kind, device: UUID, target: PushTarget, deviceKind: DeviceKind, content: PushContent,
    asksForReport: Bool, attempts: Int, registeredAt: Date, isProven: Bool, dueAt: Date? = nil, lease: UUID
  ) {
    self.push = push
    self.kind = kind
    self.device = device
    self.target = target
    self.deviceKind = deviceKind
    self.content = content
    self.asksForReport = asksForReport
    self.attempts = attempts
    self.registeredAt = registeredAt
    self.isProven = isProven
    self.dueAt = dueAt
    self.lease = lease
  }
}

/// The address of a device at its provider. It opens the device to whoever has it, so it must not be logged.
public enum PushTarget: Sendable, Equatable {
  /// A device token in hexadecimal, the bundle id of the app, and the environment of the token.
  case apns(token: String, topic: String, environment: PushEnvironment)
  /// A registration token.
  case fcm(token: String)
  /// The URL of a push service, the receiver's public key (65 bytes) and its authentication secret (16 bytes).
  case webPush(endpoint: String, p256dh: [UInt8], auth: [UInt8])

  /// The provider of the address.
  public var provider: PushProvider {
    switch self {
    case .apns: .apns
    case .fcm: .fcm
    case .webPush: .webpush
    }
  }
}

/// The content of a message, in terms of the feed.
public struct PushContent: Sendable, Equatable {
  /// The current token of the feed, as text. The device has nothing to fetch if its own token has this version.
  public var token: String
  /// The item; nil for a confirmation.
  public var contentID: UUID?
  /// The visible part; nil for a message that shows nothing.
  public var alert: PushAlert?
  /// The code that the device returns; nil unless it is pending.
  public var code: String?
  /// Further fields, which only tests of an app have. The names of the fields above have precedence.
  public var data: [String: String] = [:]

  /// Creates a content.
  public init(token: String, contentID: UUID? = nil, alert: PushAlert? = nil, code: String? = nil) {
    self.token = token
    self.contentID = contentID
    self.alert = alert
    self.code = code
  }
}

/// The visible part of a message, as plain text of an editor.
public struct PushAlert: Sendable, Equatable {
  /// The title of the item, at most 200 characters; if it has none, the beginning of its text.
  public var title: String
  /// The summary, or else the beginning of the text, at most 500 characters; empty if it is already the title.
  public var body: String
  /// The address of the item on the web.
  public var url: String?
  /// Whether the item is breaking news, which may interrupt a reader.
  public var breaking: Bool

  /// Creates an alert.
  public init(title: String, body: String, url: String? = nil, breaking: Bool = false) {
    self.title = title
    self.body = body
    self.url = url
    self.breaking = breaking
  }
}

/// The outcome of an attempt to send a message.
public struct PushOutcome: Sendable {
  /// The answer of a provider, by what follows from it.
  public enum Result: Sendable, Equatable {
    /// The provider has accepted the message.
    case sent
    /// The address is gone for good, and the device is deleted. With `since`, it is deleted only if it has registered
    /// before that time.
    case gone(since: Date?)
    /// The address was refused, for a reason that a wrong configuration gives as well. The device is marked and kept. The
    /// message is tried again an hour later, three times in all.
    case tokenError(reason: String)
    /// The message could not be sent now. It is tried again after a time in seconds, 0 or more.
    case retry(after: Double, reason: String)
    /// The message was not sent, for a reason that says nothing about it. It is due again after a time in seconds, 0 or
    /// more, and the number of its attempts stays as it is.
    case unsent(after: Double, reason: String)
    /// The message was refused because of its content or of our configuration. It is dropped.
    case invalid(reason: String)
  }

  /// The message.
  public let message: PushMessage
  /// The result.
  public let result: Result

  /// Creates an outcome.
  public init(message: PushMessage, result: Result) {
    self.message = message
    self.result = result
  }
}
