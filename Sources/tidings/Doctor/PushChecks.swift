import Foundation
import Logging
import News
import NewsDelivery
import NewsStore

/// The checks of `tidings doctor` on pushes.
struct PushChecks {
  /// The delays from which messages and changes are reported, in seconds. The alerts have the same.
  private static let messageDelay: Double = 600
  private static let outboxDelay: Double = 60

  let settings: Settings
  let logger: Logger

  func findings() async -> [Finding] {
    do {
      let providers = try settings.deliveryConfiguration().providers
      return [keys(providers)] + (await deliveries(providers))
    } catch {
      return [.problem("push", Failure(error).message)]
    }
  }

  private func keys(_ providers: [PushProvider]) -> Finding {
    if providers.isEmpty { return .ok("push", "no push service has keys, so devices are not woken") }
    return .ok("push", "the keys of \(providers.map(\.rawValue).joined(separator: ", ")) can be read")
  }

  /// Checks what servers send; nothing if the database does not answer, which another finding says.
  private func deliveries(_ providers: [PushProvider]) async -> [Finding] {
    var findings: [Finding] = []
    let isRead: Void? = try? await settings.withStore(logger) { store in
      try await store.countDeliveries()
      let counts = store.deliveryCounts()
      for state in try await store.providerStates() where providers.contains(state.provider) {
        if state.pauses > 0 { findings.append(pause(state)) }
        if let refusal = state.refusal { findings.append(Self.refusal(refusal, by: state.provider)) }
      }
      findings += delays(counts, providers)
    }
    guard isRead != nil else { return [] }
    return findings.isEmpty
      ? [.ok("deliveries", "no push service is paused or refuses the keys, and nothing is overdue")] : findings
  }

  private func pause(_ state: ProviderState) -> Finding {
    let time = state.pausedUntil.map { " until \(RFC3339.string(from: $0))" } ?? ""
    return .warning(
      "deliveries", "\(state.provider.rawValue) is paused\(time): \((state.reason ?? "it has failed").terminalSafe)")
  }

  private static func refusal(_ refusal: ProviderState.Refusal, by provider: PushProvider) -> Finding {
    .warning(
      "deliveries",
      "\(provider.rawValue) accepts no message, most recently at \(RFC3339.string(from: refusal.at)): "
        + "\(refusal.reason.terminalSafe)")
  }

  private func delays(_ counts: StoreDeliveries, _ providers: [PushProvider]) -> [Finding] {
    var findings: [Finding] = []
    if counts.outboxSeconds > Self.outboxDelay {
      findings.append(
        .warning(
          "deliveries",
          "changes have waited for \(Self.minutes(counts.outboxSeconds)): start a server, or read its log"))
    }
    for provider in PushProvider.allCases {
      let devices = counts.devices.filter { $0.key.provider == provider }.map(\.value).reduce(0, +)
      if !providers.contains(provider) {
        if devices > 0 {
          findings.append(
            .warning(
              "deliveries", "the devices of \(provider.rawValue), \(devices), get nothing: \(provider.missingKey)"))
        }
      } else if !counts.paused.contains(provider), counts.overdueSeconds[provider] ?? 0 > Self.messageDelay {
        let delay = Self.minutes(counts.overdueSeconds[provider] ?? 0)
        findings.append(
          .warning(
            "deliveries",
            "messages of \(provider.rawValue) are \(delay) late: no server sends them, or the service is too slow or cannot "
              + "be reached, which the log says"))
      }
    }
    return findings
  }

  private static func minutes(_ seconds: Double) -> String { "\(Int(seconds / 60)) min" }
}
