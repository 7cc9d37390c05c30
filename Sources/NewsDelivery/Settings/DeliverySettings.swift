/// The values of the settings of deliveries, as the operator has written them; empty for those that are not set.
public struct DeliverySettings: Sendable {
  /// `TIDINGS_APNS_KEY_FILE`: the path of the key that Apple issues (`.p8`).
  public var apnsKeyFile = ""
  /// `TIDINGS_APNS_KEY_ID`: the id of the key.
  public var apnsKeyID = ""
  /// `TIDINGS_APNS_TEAM_ID`: the id of the developer team.
  public var apnsTeamID = ""
  /// `TIDINGS_APNS_URL`: the address in place of Apple's, without a trailing slash; nil for Apple's. http is for this machine
  /// only.
  public var apnsURL: String?
  /// `TIDINGS_FCM_CREDENTIALS`: the path of the JSON file of a service account.
  public var fcmCredentials = ""
  /// `TIDINGS_FCM_URL`: the address in place of Google's, without a trailing slash; nil for Google's. http is for this machine
  /// only.
  public var fcmURL: String?
  /// `TIDINGS_VAPID_KEY_FILE`: the path of a P-256 private key, as PEM.
  public var vapidKeyFile = ""
  /// `TIDINGS_VAPID_SUBJECT`: a `mailto:` or `https:` URL of the operator, with a full host name.
  public var vapidSubject = ""
  /// `TIDINGS_PUSH_CA_FILE`: the path of PEM certificates that are trusted besides those of the system.
  public var pushCAFile = ""
  /// `TIDINGS_PUSH_ORIGINS`: further origins of Web Push.
  public var pushOrigins: [String] = []
  /// `TIDINGS_PUSH_WINDOW`, `TIDINGS_PUSH_BUDGET` and `TIDINGS_PUSH_REPORT_RATE`.
  public var limits = DeliveryService.Limits()

  /// Creates settings without any push service.
  public init() {}
}

/// A setting of deliveries is invalid.
public struct DeliverySettingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The name of the setting.
  public let name: String
  /// The rule, which follows the name in a sentence. It never has the content of a file.
  public let rule: String

  /// The name and the rule.
  public var description: String { "\(name) \(rule)" }
}
