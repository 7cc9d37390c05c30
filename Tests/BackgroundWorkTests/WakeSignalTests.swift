import BackgroundWork
import Testing

/// A signal that tasks wait for.
@Suite struct WakeSignalTests {
  @Test("Signals before a wait end that one at once, and no later one")
  func earlier() async {
    let signal = WakeSignal()
    for _ in 0..<2 { signal.set() }
    var start = ContinuousClock.now
    await signal.wait(for: .seconds(60))
    #expect(ContinuousClock.now - start < .seconds(30))
    start = ContinuousClock.now
    await signal.wait(for: .milliseconds(200))
    #expect(ContinuousClock.now - start > .milliseconds(100))
  }

  @Test("A wait ends with a signal and with a cancellation of its task", arguments: [false, true])
  func end(isCancelled: Bool) async {
    let signal = WakeSignal()
    let start = ContinuousClock.now
    let waiting = Task { await signal.wait(for: .seconds(60)) }
    if isCancelled { waiting.cancel() } else { signal.set() }
    await waiting.value
    #expect(ContinuousClock.now - start < .seconds(30))
  }
}
