/// The service through which a device receives pushes.
public enum PushProvider: String, Sendable, Codable, CaseIterable {
  /// Apple Push Notification service.
  case apns
  /// Firebase Cloud Messaging, HTTP v1.
  case fcm
  /// Web Push (RFC 8030), for browsers and UnifiedPush.
  case webpush
}

/// The receiver of a device's pushes.
public enum DeviceKind: String, Sendable, Codable, CaseIterable {
  /// An app, which is woken without a visible notification.
  case app
  /// An app whose endpoint belongs to a UnifiedPush distributor. It is woken like any other app.
  case unifiedpush
  /// A page in a browser. Browsers require a visible notification for each push, so it receives alerts only.
  case browser
}

/// The environment of APNs that has issued a device token.
public enum PushEnvironment: String, Sendable, Codable, CaseIterable {
  /// Apps from the App Store and TestFlight.
  case production
  /// Apps that were installed by Xcode.
  case sandbox
}

/// The subscription of a browser or a UnifiedPush distributor, in the form of `PushSubscription.toJSON()` (W3C Push API).
public struct WebPushSubscription: Sendable, Equatable, Codable {
  /// The keys of the receiver (RFC 8291 section 2.1) in base64url.
  public struct Keys: Sendable, Equatable, Codable {
    /// The public key: an uncompressed point on P-256, 65 bytes.
    public var p256dh: String
    /// The authentication secret, 16 bytes.
    public var auth: String

    /// Creates keys without validation.
    public init(p256dh: String, auth: String) {
      self.p256dh = p256dh
      self.auth = auth
    }
  }

  /// The address to which pushes are sent, an https URL.
  public var endpoint: String
  /// The keys with which pushes are encrypted.
  public var keys: Keys

  /// Creates a subscription without validation.
  public init(endpoint: String, keys: Keys) {
    self.endpoint = endpoint
    self.keys = keys
  }
}

/// The body of `POST /v1/devices` and `PUT /v1/devices/{id}`: the address of a device, and the pushes that it wants.
///
///     var registration = DeviceRegistration(provider: .apns, token: "8f3e…", app: "example.reader")
///     registration.topics = ["harbour"]
///     registration.quiet = QuietHours(from: 22 * 60, to: 7 * 60)
///     registration.timeZone = "Europe/Berlin"
public struct DeviceRegistration: Sendable, Equatable, Codable {
  /// The service that delivers the pushes.
  public var provider: PushProvider
  /// The receiver.
  public var kind: DeviceKind
  /// The device token of APNs in hexadecimal, or the registration token of FCM; nil for Web Push.
  public var token: String?
  /// The subscription of Web Push; nil for other providers.
  public var subscription: WebPushSubscription?
  /// The bundle id, which APNs requires as the topic of a push; nil for other providers.
  public var app: String?
  /// The environment of APNs; nil for other providers, and for `production`.
  public var environment: PushEnvironment?
  /// The topics whose changes wake the device, one or more; nil for the whole feed.
  public var topics: [String]?
  /// The languages of items with which alerts are wanted, as BCP 47 tags. `de` includes `de-AT`. With nil, all are wanted.
  public var languages: [String]?
  /// Whether the device wants visible alerts.
  public var alerts: Bool
  /// The time zone of the quiet hours, as a name of the IANA database such as `Europe/Berlin`; nil for UTC.
  public var timeZone: String?
  /// The hours without pushes; nil for none.
  public var quiet: QuietHours?

  /// Creates a registration without validation.
  public init(
    provider: PushProvider, kind: DeviceKind = .app, token: String? = nil, subscription: WebPushSubscription? = nil,
    app: String? = nil, environment: PushEnvironment? = nil, topics: [String]? = nil, languages: [String]? = nil,
    alerts: Bool = false, timeZone: String? = nil, quiet: QuietHours? = nil
  ) {
    self.provider = provider
    self.kind = kind
    self.token = token
    self.subscription = subscription
    self.app = app
    self.environment = environment
    self.topics = topics
    self.languages = languages
    self.alerts = alerts
    self.timeZone = timeZone
    self.quiet = quiet
  }

  /// Decodes a registration. Without `kind` it is that of an app, and without `alerts` there are none.
  ///
  /// - Throws: `DecodingError`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    provider = try container.decode(PushProvider.self, forKey: .provider)
    kind = try container.decodeIfPresent(DeviceKind.self, forKey: .kind) ?? .app
    token = try container.decodeIfPresent(String.self, forKey: .token)
    subscription = try container.decodeIfPresent(WebPushSubscription.self, forKey: .subscription)
    app = try container.decodeIfPresent(String.self, forKey: .app)
    environment = try container.decodeIfPresent(PushEnvironment.self, forKey: .environment)
    topics = try container.decodeIfPresent([String].self, forKey: .topics)
    languages = try container.decodeIfPresent([String].self, forKey: .languages)
    alerts = try container.decodeIfPresent(Bool.self, forKey: .alerts) ?? false
    timeZone = try container.decodeIfPresent(String.self, forKey: .timeZone)
    quiet = try container.decodeIfPresent(QuietHours.self, forKey: .quiet)
  }
}

/// Hours of each day in which a device receives no silent pushes, and only breaking alerts. They are those of the device's
/// clock, also on days on which it is moved.
///
///     let night = QuietHours(from: 22 * 60, to: 7 * 60)
///     print(String(decoding: try NewsJSON.encode(night), as: UTF8.self))  // {"from":"22:00","to":"07:00"}
public struct QuietHours: Sendable, Equatable, Codable {
  /// The first minute, counted from midnight: 0...1439.
  public var from: Int
  /// The minute after the last one: 0...1439, different from `from`. If it is less, the hours include midnight.
  public var to: Int

  /// Creates hours without validation.
  public init(from: Int, to: Int) {
    self.from = from
    self.to = to
  }

  /// Whether both minutes are in 0...1439 and differ.
  public var isValid: Bool { 0..<1440 ~= from && 0..<1440 ~= to && from != to }

  private enum CodingKeys: String, CodingKey {
    case from, to
  }

  /// Parses a time of the form `HH:MM`, 00:00...23:59.
  ///
  /// - Returns: The minutes since midnight; nil for any other text.
  public static func minute(_ text: some StringProtocol) -> Int? {
    let bytes = Array(text.utf8)
    let digits = [0, 1, 3, 4].filter { $0 < bytes.count && bytes[$0].isASCIIDigit }
    guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"), digits.count == 4 else { return nil }
    let numbers = digits.map { Int(bytes[$0] - UInt8(ascii: "0")) }
    let (hour, minute) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
    return hour < 24 && minute < 60 ? hour * 60 + minute : nil
  }

  /// Writes a minute of the day in the form `HH:MM`.
  static func text(_ minute: Int) -> String {
    func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(digits(minute / 60)):\(digits(minute % 60))"
  }

  /// Decodes hours in the form `{"from":"22:00","to":"07:00"}`.
  ///
  /// - Throws: `DecodingError` unless both are times of the form `HH:MM` and differ.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func minute(_ key: CodingKeys) throws -> Int {
      guard let minute = Self.minute(try container.decode(String.self, forKey: key)) else {
        throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "not a time HH:MM")
      }
      return minute
    }
    self.init(from: try minute(.from), to: try minute(.to))
    guard from != to else {
      throw DecodingError.dataCorruptedError(forKey: .to, in: container, debugDescription: "equal to from")
    }
  }

  /// Encodes both times in the form `HH:MM`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Self.text(from), forKey: .from)
    try container.encode(Self.text(to), forKey: .to)
  }
}
