public import Foundation

/// A push to many devices, as editors see it.
///
///     func reached(_ push: Push) -> Double { push.audience == 0 ? 0 : Double(push.sent) / Double(push.audience) }
public struct Push: Sendable, Equatable, Codable {
  /// The purpose of a push.
  public enum Kind: String, Sendable, Codable, CaseIterable {
    /// It wakes devices, so that they fetch the news.
    case silent
    /// It shows an item, at the request of an editor.
    case alert
    /// It wakes devices because an item was retracted for which there was an alert.
    case retraction
  }

  /// The id, which devices name in their reports.
  public var id: UUID
  /// The purpose.
  public var kind: Kind
  /// The item; for a silent push, the newest of several.
  public var item: UUID?
  /// The title of an alert; nil for other pushes, and after the item was erased.
  public var title: String?
  /// The time at which the push was made.
  public var created: Date
  /// The time from which it is sent.
  public var starts: Date
  /// The time at which all devices were found; nil before.
  public var finished: Date?
  /// The time at which an alert was cancelled, because its item was taken down; nil if it was not.
  public var cancelled: Date?
  /// The number of devices that the push is for.
  public var audience: Int
  /// The number of messages that a provider has accepted.
  public var sent: Int
  /// The number of messages that a provider has refused because of the token, or of our own configuration.
  public var refused: Int
  /// The number of devices that were found to be gone.
  public var gone: Int
  /// The number of messages that were not sent: the device had its quiet hours, or was no longer to receive them.
  public var dropped: Int
  /// The number of devices that have reported the push. Only a share of them is asked to.
  public var reports: Int
  /// The number of these whose app was woken by the push.
  public var woke: Int
  /// The number of these that have found news.
  public var foundNews: Int
  /// The time of the last message; nil before the first.
  public var lastSent: Date?

  /// Creates a push without validation.
  public init(
    id: UUID, kind: Kind, item: UUID? = nil, title: String? = nil, created: Date, starts: Date, finished: Date? = nil,
    cancelled: Date? = nil, audience: Int = 0, sent: Int = 0, refused: Int = 0, gone: Int = 0, dropped: Int = 0,
    reports: Int = 0, woke: Int = 0, foundNews: Int = 0, lastSent: Date? = nil
  ) {
    self.id = id
    self.kind = kind
    self.item = item
    self.title = title
    self.created = created
    self.starts = starts
    self.finished = finished
    self.cancelled = cancelled
    self.audience = audience
    self.sent = sent
    self.refused = refused
    self.gone = gone
    self.dropped = dropped
    self.reports = reports
    self.woke = woke
    self.foundNews = foundNews
    self.lastSent = lastSent
  }
}

/// The body of `GET /v1/editorial/pushes`.
///
///     let list = try NewsJSON.decode(PushList.self, from: Data(#"{"pushes":[]}"#.utf8))
///     print(list.pushes.count)  // 0
public struct PushList: Sendable, Equatable, Codable {
  /// The pushes, the newest first.
  public var pushes: [Push]

  /// Creates a list.
  public init(pushes: [Push]) {
    self.pushes = pushes
  }
}

/// The devices that an alert for an item would reach now.
///
///     let audience = PushAudience(devices: 3, quiet: 1, providers: [.apns: 2, .fcm: 1])
///     print(String(decoding: try NewsJSON.encode(audience), as: UTF8.self))
///     // {"devices":3,"providers":{"apns":2,"fcm":1},"quiet":1}
public struct PushAudience: Sendable, Equatable, Codable {
  /// The number of devices that would receive the alert.
  public var devices: Int
  /// The number of further devices that would not, because they have their quiet hours.
  public var quiet: Int
  /// `devices` by provider, without those that have none.
  public var providers: [PushProvider: Int]

  /// Creates an audience.
  public init(devices: Int, quiet: Int, providers: [PushProvider: Int]) {
    self.devices = devices
    self.quiet = quiet
    self.providers = providers
  }

  private enum CodingKeys: String, CodingKey {
    case devices, quiet, providers
  }

  /// `providers` with their names as keys.
  var namedProviders: [String: Int] {
    Dictionary(uniqueKeysWithValues: providers.map { ($0.key.rawValue, $0.value) })
  }

  /// Decodes an audience. Providers that this version of the library does not know are left out.
  ///
  /// - Throws: `DecodingError`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    devices = try container.decode(Int.self, forKey: .devices)
    quiet = try container.decode(Int.self, forKey: .quiet)
    let named = try container.decode([String: Int].self, forKey: .providers)
    providers = Dictionary(
      uniqueKeysWithValues: named.compactMap { name, count in PushProvider(rawValue: name).map { ($0, count) } })
  }

  /// Encodes the audience, with the providers as an object.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(devices, forKey: .devices)
    try container.encode(namedProviders, forKey: .providers)
    try container.encode(quiet, forKey: .quiet)
  }
}
