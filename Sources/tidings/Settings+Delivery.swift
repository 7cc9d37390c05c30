import News
import NewsAPI
import NewsDelivery
import NewsStore

extension DeliverySettings {
  /// Reads the settings of push services.
  ///
  /// - Throws: `SettingError`.
  init(_ source: SettingReader) throws {
    self.init()
    apnsKeyFile = try source.path(.apnsKeyFile)
    apnsKeyID = source.text(.apnsKeyID, default: "")
    apnsTeamID = source.text(.apnsTeamID, default: "")
    apnsURL = try source.link(.apnsURL)
    fcmCredentials = try source.path(.fcmCredentials)
    fcmURL = try source.link(.fcmURL)
    vapidKeyFile = try source.path(.vapidKeyFile)
    vapidSubject = source.text(.vapidSubject, default: "")
    pushCAFile = try source.path(.pushCAFile)
    pushOrigins = source.text(.pushOrigins, default: "").split { $0 == "," || $0 == " " }.map(String.init)
    limits.window = .seconds(try source.integer(.pushWindow, in: 0...3600, default: 60))
    limits.budget = try source.integer(.pushBudget, in: 1...60, default: 3)
    limits.reportRate = try source.fraction(.pushReportRate, default: 0.01)
  }
}

extension Settings {
  /// Returns the push services in use.
  ///
  /// - Throws: `SettingError` if a key cannot be read.
  func deliveryConfiguration() throws -> DeliveryConfiguration {
    do throws(DeliverySettingError) {
      return try DeliveryConfiguration(delivery)
    } catch {
      throw SettingError(name: error.name, rule: error.rule)
    }
  }

  /// Returns the settings of registrations for the push services in use.
  func pushSettings(_ configuration: DeliveryConfiguration) -> NewsAPI.PushSettings {
    var push = NewsAPI.PushSettings()
    push.offer.providers = configuration.providers
    push.offer.webPush = configuration.webPushKey.map { .init(publicKey: $0) }
    push.allowsEndpoint = configuration.origins.allows
    push.limits.total = deviceLimit
    push.registrationsPerAddress = registrationsPerAddress > 0 ? registrationsPerAddress : nil
    return push
  }
}
