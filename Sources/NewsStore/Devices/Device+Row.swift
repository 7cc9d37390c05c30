import Foundation
import News
import PostgresClient

extension Device {
  /// The columns that `init(row:)` reads, of a device `d`.
  static let columns: PostgresQuery = """
    d.id, d.provider, d.kind, d.address, d.p256dh, d.auth, d.app, d.environment, d.topics, d.languages, d.alerts,
      d.time_zone, d.quiet_from, d.quiet_to, d.state, d.created_at, d.registered_at, d.expires_at, d.reported_epoch,
      d.reported_version, d.reported_at, d.token_error, d.token_error_at, d.token_errors
    """

  init(row: PostgresRow) throws {
    id = try row.decode("id")
    registration = try DeviceRegistration(row: row)
    isPending = try row.decode("state", as: String.self) == "pending"
    createdAt = try row.decode("created_at")
    registeredAt = try row.decode("registered_at")
    expiresAt = try row.decode("expires_at")
    if let epoch = try row.decode("reported_epoch", as: String?.self) {
      lastReport = Report(
        epoch: epoch, version: try row.decode("reported_version"), at: try row.decode("reported_at"))
    } else {
      lastReport = nil
    }
    if let at = try row.decode("token_error_at", as: Date?.self) {
      tokenError = TokenError(
        reason: try row.decode("token_error", as: String?.self) ?? "", at: at, count: try row.decode("token_errors"))
    } else {
      tokenError = nil
    }
  }
}

extension DeviceRegistration {
  fileprivate init(row: PostgresRow) throws {
    let provider: PushProvider = try row.value("provider")
    let address: String = try row.decode("address")
    self.init(provider: provider, kind: try row.value("kind"), alerts: try row.decode("alerts"))
    if provider == .webpush {
      subscription = WebPushSubscription(
        endpoint: address,
        keys: .init(
          p256dh: String(base64URL: try row.decode("p256dh", as: Data.self)),
          auth: String(base64URL: try row.decode("auth", as: Data.self))))
    } else {
      token = address
    }
    app = try row.decode("app")
    environment = try row.decode("environment", as: String?.self).flatMap(PushEnvironment.init(rawValue:))
    topics = try row.decode("topics")
    languages = try row.decode("languages")
    timeZone = try row.decode("time_zone")
    if let from = try row.decode("quiet_from", as: Int?.self), let to = try row.decode("quiet_to", as: Int?.self) {
      quiet = QuietHours(from: from, to: to)
    }
  }
}

extension PushTarget {
  /// - Parameter row: A row with the columns of `Device`.
  init(row: PostgresRow) throws {
    let address: String = try row.decode("address")
    switch try row.value("provider", as: PushProvider.self) {
    case .apns:
      self = .apns(
        token: address, topic: try row.decode("app"), environment: try row.value("environment"))
    case .fcm: self = .fcm(token: address)
    case .webpush:
      self = .webPush(
        endpoint: address, p256dh: Array(try row.decode("p256dh", as: Data.self)),
        auth: Array(try row.decode("auth", as: Data.self)))
    }
  }
}
