import Foundation
import News
import NewsAPI
import NewsPages
import NewsStore

/// The push services: whether they are in use and work, and what they have to send.
struct PushServiceList: Sendable {
  private let used: [PushProvider]
  private let states: [ProviderState]
  /// The devices and messages as the server has counted them last, at most some seconds ago.
  private let counts: StoreDeliveries

  /// Reads the states of the services.
  ///
  /// - Throws: `StoreError.unavailable`.
  init(_ services: ConsoleServices) async throws {
    used = services.pushServices
    states = try await services.store.providerStates()
    counts = services.store.deliveryCounts()
  }

  /// Whether a service is in use.
  var isInUse: Bool { !used.isEmpty }

  /// Returns the values of the services that are in use or have devices.
  func rows(_ pages: ConsolePages, for visit: ConsoleVisit) -> [PageValues] {
    PushProvider.allCases.compactMap { provider in
      let devices = counts.devices.filter { $0.key.provider == provider }.map(\.value).reduce(0, +)
      return used.contains(provider) || devices > 0 ? row(provider, pages, for: visit) : nil
    }
  }

  private func row(_ provider: PushProvider, _ pages: ConsolePages, for visit: ConsoleVisit) -> PageValues {
    let numbers = NumberText(pages.texts)
    var values = PageValues()
    values.set("serviceName", pages.name(of: provider))
    let isUsed = used.contains(provider)
    let known = states.first { isUsed && $0.provider == provider }
    let state = known.flatMap { $0.pauses > 0 ? $0 : nil }
    let isFailing = state != nil || known?.refusal != nil
    let health = !isUsed ? "unused" : isFailing ? "failing" : "working"
    values.set("health", health)
    let failure = state != nil ? "paused" : "service-refusing"
    values.set("healthTitle", pages.texts.text(isFailing ? failure : "service-\(health)"))
    func devices(isPending: Bool) -> Int { counts.devices[.init(provider: provider, isPending: isPending)] ?? 0 }
    values.set("devices", numbers.whole(devices(isPending: false)))
    let (pending, refused) = (devices(isPending: true), counts.refusedDevices[provider] ?? 0)
    values.set("pendingDevices", pending > 0 ? numbers.whole(pending) : nil)
    values.set("refusedDevices", refused > 0 ? numbers.whole(refused) : nil)
    values.set("owed", numbers.whole(counts.owed[provider] ?? 0))
    let overdue = counts.overdueSeconds[provider] ?? 0
    if overdue >= 1 { values.set("overdue", numbers.duration(overdue)) }
    // The reasons name settings of the server.
    if let state {
      values.set("isPaused", true)
      pages.setTime("pauseEnd", state.pausedUntil, in: &values)
      values.set("pauseReason", visit.isAdministrator ? state.reason : nil)
    }
    if let refusal = known?.refusal {
      values.set("isRefusing", true)
      pages.setTime("refusal", refusal.at, in: &values)
      values.set("refusalReason", visit.isAdministrator ? refusal.reason : nil)
    }
    return values
  }
}

extension ConsoleServices {
  /// The push services in use.
  var pushServices: [PushProvider] { api.settings.push.offer.providers }
}

extension ConsolePages {
  /// Returns the name of a push service, which is the same in all languages.
  func name(of provider: PushProvider) -> String {
    switch provider {
    case .apns: "APNs"
    case .fcm: "FCM"
    case .webpush: "Web Push"
    }
  }
}
