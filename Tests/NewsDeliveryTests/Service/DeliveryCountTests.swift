import NewsDelivery
import NewsStore
import TestKit
import TestSupport
import Testing

/// The counts of devices and debts for metrics.
@Suite struct DeliveryCountTests {
  @Test("Devices are counted again and again")
  func repeated() async throws {
    try await Deliveries.with { deliveries in
      try await deliveries.withService([], countTime: .milliseconds(20)) {
        for count in 1...2 {
          try await deliveries.register(1)
          try await eventually("\(count) devices are counted") {
            deliveries.store.deliveryCounts().devices.values.reduce(0, +) == count
          }
        }
      }
    }
  }
}
