import HTTPEdge
import News
import NewsStore

extension StoreDeliveries {
  /// The names of the results in `outcomes`.
  private static let results = ["sent", "retry", "tokenError", "gone", "invalid"]

  func write(to text: inout PrometheusText) {
    let devices = "tidings_devices"
    text.begin(devices, .gauge, help: "Registered devices, by push service and state.")
    for provider in PushProvider.allCases {
      let active = self.devices[.init(provider: provider, isPending: false)] ?? 0
      let refused = refusedDevices[provider] ?? 0
      let pending = self.devices[.init(provider: provider, isPending: true)] ?? 0
      for (state, count) in [("active", active), ("pending", pending)] {
        text.add(devices, Self.labels(provider, ("state", state)), Double(count))
      }
      // A refused device is an active one or a pending one.
      text.add(devices, Self.labels(provider, ("state", "refused")), Double(refused))
    }
    let outcomes = "tidings_push_outcomes_total"
    text.begin(outcomes, .counter, help: "Messages to devices, by push service and by what became of them.")
    for provider in PushProvider.allCases {
      for result in Self.results {
        let count = self.outcomes[.init(provider: provider, result: result)] ?? 0
        text.add(outcomes, Self.labels(provider, ("outcome", result)), Double(count))
      }
    }
    let gauges: [(name: String, help: String, value: (PushProvider) -> Double)] = [
      ("tidings_push_owed", "Messages that devices are to receive.", { Double(owed[$0] ?? 0) }),
      (
        "tidings_push_overdue_seconds", "Time for which the most delayed message is overdue.",
        { overdueSeconds[$0] ?? 0 }
      ),
      ("tidings_push_paused", "Whether the push service is paused.", { paused.contains($0) ? 1 : 0 }),
      (
        "tidings_push_refused", "Whether the push service refuses the keys of the server, or all messages so far.",
        { refusing.contains($0) ? 1 : 0 }
      ),
    ]
    for (name, help, value) in gauges {
      text.begin(name, .gauge, help: help)
      for provider in PushProvider.allCases { text.add(name, Self.labels(provider), value(provider)) }
    }
    text.add("tidings_outbox_rows", .gauge, help: "Changes whose deliveries are not decided yet.", Double(outboxRows))
    text.add("tidings_outbox_seconds", .gauge, help: "Age of the oldest of these changes.", outboxSeconds)
  }

  private static func labels(_ provider: PushProvider, _ other: (String, String)...) -> String {
    PrometheusText.labels([("provider", provider.rawValue)] + other)
  }
}
