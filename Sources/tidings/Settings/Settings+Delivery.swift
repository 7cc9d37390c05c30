import HTTPEdge
import News
import NewsAPI
import NewsDelivery
import NewsStore

extension Settings {
  /// The push services, and the limits of pushes.
  private var delivery: DeliverySettings {
    var delivery = DeliverySettings()
    delivery.apnsKeyFile = self.apnsKeyFile
    delivery.apnsKeyID = self.apnsKeyID
    delivery.apnsTeamID = self.apnsTeamID
    delivery.apnsURL = self.apnsURL
    delivery.fcmCredentials = self.fcmCredentials
    delivery.fcmURL = self.fcmURL
    delivery.vapidKeyFile = self.vapidKeyFile
    delivery.vapidSubject = self.vapidSubject
    delivery.pushCAFile = self.pushCAFile
    delivery.pushOrigins = self.pushOrigins
    delivery.limits.window = .seconds(self.pushWindow)
    delivery.limits.budget = self.pushBudget
    delivery.limits.reportRate = self.pushReportRate
    return delivery
  }

  /// Returns the push services in use.
  ///
  /// - Throws: `DeliverySettingError` if a key cannot be read.
  func deliveryConfiguration() throws -> DeliveryConfiguration {
    try DeliveryConfiguration(delivery)
  }

  /// Returns the settings of registrations for the push services in use.
  func pushSettings(_ configuration: DeliveryConfiguration) -> NewsAPI.PushSettings {
    var push = NewsAPI.PushSettings()
    push.offer.providers = configuration.providers
    push.offer.webPush = configuration.webPushKey.map { .init(publicKey: $0) }
    push.allowsEndpoint = configuration.origins.allows
    push.limits.total = self.deviceLimit
    push.registrationsPerAddress = self.registrationsPerAddress > 0 ? self.registrationsPerAddress : nil
    return push
  }

  /// The proxies that report the client's address.
  var trustedProxies: TrustedProxies { TrustedProxies(self.trustedNetworks, field: self.forwardedField) }
}
