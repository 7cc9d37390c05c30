import News
import NewsDelivery
import NewsStore
import TestSupport
import Testing

/// The pauses of a push service that processes share.
@Suite struct ProviderPausesTests {
  @Test("Answers from before a pause of another process do not end its probe")
  func otherProcess() async throws {
    try await Deliveries.with { deliveries in
      let pauses = ProviderPauses(
        sender: ScriptedSender(.fcm), store: deliveries.store, logger: NewsDatabase.logger, clock: { deliveries.now })
      let message = PushMessage.sample(to: .fcm(token: "a"))
      for _ in 0..<100 { await pauses.note(PushAnswer(.sent), to: message) }
      try await deliveries.store.pauseProvider(.fcm, for: 60, reason: "down", at: deliveries.now)
      deliveries.advance(61)
      try await pauses.refresh()
      #expect(pauses.isProbing && pauses.rest == nil)
      #expect(await !pauses.endProbe())
      #expect(try await deliveries.store.providerStates().map(\.pauses) == [1])
      await pauses.note(PushAnswer(.sent), to: message)
      #expect(await pauses.endProbe())
      #expect(try await deliveries.store.providerStates().map(\.pauses) == [0])
    }
  }
}
