import Foundation
public import Logging
import NIOSSL
public import News
public import NewsStore
public import OutgoingHTTP

/// The push services in use, with their keys.
///
///     var settings = DeliverySettings()
///     settings.vapidKeyFile = "/etc/tidings/vapid.pem"
///     settings.vapidSubject = "mailto:news@example.org"
///     let configuration = try DeliveryConfiguration(settings)
///     print(configuration.providers, configuration.webPushKey ?? "")
public struct DeliveryConfiguration: Sendable {
  private static let maximumFileBytes = 1 << 20

  /// The limits of deliveries.
  public let limits: DeliveryService.Limits
  /// The origins that messages of Web Push may be sent to, and that registrations may name.
  public let origins: WebPushOrigins

  private let apns: APNsCredentials?
  private let fcm: FCMCredentials?
  private let vapid: VAPIDCredentials?
  private let apnsURL: String?
  private let fcmURL: String?
  private let trustRoots: [NIOSSLCertificate]

  /// The push services that devices can register for.
  public var providers: [PushProvider] {
    let inUse = [(PushProvider.apns, apns != nil), (.fcm, fcm != nil), (.webpush, vapid != nil)]
    return inUse.filter { $0.1 }.map { $0.0 }
  }

  /// The public key that pages subscribe with, in base64url; nil without Web Push.
  public var webPushKey: String? { vapid?.publicKey }

  /// Reads the keys that the settings name.
  ///
  /// - Throws: `DeliverySettingError`.
  public init(_ settings: DeliverySettings) throws(DeliverySettingError) {
    limits = settings.limits
    apnsURL = try Self.service(settings.apnsURL, for: "TIDINGS_APNS_URL")
    fcmURL = try Self.service(settings.fcmURL, for: "TIDINGS_FCM_URL")
    do {
      origins = try WebPushOrigins(settings.pushOrigins)
    } catch {
      throw DeliverySettingError(
        name: "TIDINGS_PUSH_ORIGINS", rule: "must be origins such as https://push.example.org; \(error.rule)")
    }
    apns = try Self.apns(settings)
    fcm = try Self.fcm(settings)
    vapid = try Self.vapid(settings)
    trustRoots = try Self.trustRoots(settings.pushCAFile)
  }

  /// Returns a service for the push services in use.
  ///
  /// - Parameters:
  ///   - policy: The addresses that messages of Web Push may reach.
  ///   - publicURL: The address of the installation without a trailing slash, for the events of webhooks; nil for none.
  public func service(
    store: NewsStore, policy: AddressPolicy, publicURL: String?, logger: Logger
  ) -> DeliveryService {
    DeliveryService(
      store: store, senders: senders(policy: policy), limits: limits, publicURL: publicURL, logger: logger)
  }

  /// Returns new senders for the push services in use. Their shutdown is the caller's.
  package func senders(policy: AddressPolicy) -> [any PushSender] {
    var senders: [any PushSender] = []
    if let apns { senders.append(APNsSender(apns, url: apnsURL, trustRoots: trustRoots)) }
    if let fcm { senders.append(FCMSender(fcm, url: fcmURL, trustRoots: trustRoots)) }
    if let vapid {
      senders.append(
        WebPushSender(
          vapid, origins: origins, resolver: CheckedResolver(policy: policy), trustRoots: trustRoots))
    }
    return senders
  }

  /// Checks the address of a push service. Each request to it has a token.
  private static func service(_ address: String?, for name: String) throws(DeliverySettingError) -> String? {
    guard let address else { return nil }
    guard let url = try? OutgoingURL(address), url.isSafeForSecrets else {
      throw DeliverySettingError(
        name: name, rule: "must be an https URL, or an http URL of this machine such as http://127.0.0.1:8443")
    }
    return address
  }

  private static func apns(_ settings: DeliverySettings) throws(DeliverySettingError) -> APNsCredentials? {
    let values = [
      ("TIDINGS_APNS_KEY_FILE", settings.apnsKeyFile), ("TIDINGS_APNS_KEY_ID", settings.apnsKeyID),
      ("TIDINGS_APNS_TEAM_ID", settings.apnsTeamID),
    ]
    guard let present = values.first(where: { !$0.1.isEmpty })?.0 else { return nil }
    if let missing = values.first(where: { $0.1.isEmpty })?.0 {
      throw DeliverySettingError(name: missing, rule: "must be set together with \(present)")
    }
    for (name, value) in values.dropFirst() {
      guard value.utf8.count == 10, value.utf8.allSatisfy({ 65...90 ~= $0 || $0.isASCIIDigit }) else {
        throw DeliverySettingError(name: name, rule: "must be an id of 10 capital letters and digits")
      }
    }
    let pem = try text(of: settings.apnsKeyFile, for: "TIDINGS_APNS_KEY_FILE")
    guard
      let credentials = try? APNsCredentials(pem: pem, keyID: settings.apnsKeyID, teamID: settings.apnsTeamID)
    else {
      throw DeliverySettingError(
        name: "TIDINGS_APNS_KEY_FILE", rule: "must name a PEM file with a P-256 private key, as Apple issues it (.p8)")
    }
    return credentials
  }

  private static func fcm(_ settings: DeliverySettings) throws(DeliverySettingError) -> FCMCredentials? {
    guard !settings.fcmCredentials.isEmpty else { return nil }
    let name = "TIDINGS_FCM_CREDENTIALS"
    let content = try text(of: settings.fcmCredentials, for: name)
    do {
      return try FCMCredentials(json: Data(content.utf8))
    } catch {
      throw DeliverySettingError(name: name, rule: error.rule)
    }
  }

  private static func vapid(_ settings: DeliverySettings) throws(DeliverySettingError) -> VAPIDCredentials? {
    let (file, subject) = ("TIDINGS_VAPID_KEY_FILE", "TIDINGS_VAPID_SUBJECT")
    if settings.vapidKeyFile.isEmpty, settings.vapidSubject.isEmpty { return nil }
    guard !settings.vapidKeyFile.isEmpty else {
      throw DeliverySettingError(name: file, rule: "must be set together with \(subject)")
    }
    guard VAPIDSubject.isValid(settings.vapidSubject) else {
      throw DeliverySettingError(name: subject, rule: VAPIDSubject.rule)
    }
    let pem = try text(of: settings.vapidKeyFile, for: file)
    guard let credentials = try? VAPIDCredentials(pem: pem, subject: settings.vapidSubject) else {
      throw DeliverySettingError(name: file, rule: "must name a PEM file with a P-256 private key")
    }
    return credentials
  }

  private static func trustRoots(_ path: String) throws(DeliverySettingError) -> [NIOSSLCertificate] {
    guard !path.isEmpty else { return [] }
    let name = "TIDINGS_PUSH_CA_FILE"
    let pem = try text(of: path, for: name)
    guard let certificates = try? NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)), !certificates.isEmpty else {
      throw DeliverySettingError(name: name, rule: "must name a PEM file with certificates")
    }
    return certificates
  }

  private static func text(of path: String, for name: String) throws(DeliverySettingError) -> String {
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      defer { try? file.close() }
      let data = try file.read(upToCount: maximumFileBytes) ?? Data()
      if let text = String(validating: data, as: UTF8.self), !text.isEmpty { return text }
    } catch {
      throw DeliverySettingError(name: name, rule: "must name a file that the server can read")
    }
    throw DeliverySettingError(name: name, rule: "must name a text file that is not empty")
  }
}
