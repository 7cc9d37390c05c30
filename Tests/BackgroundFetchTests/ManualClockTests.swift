import BackgroundFetch
import TestKit
import Testing

@Suite("Manual clock")
struct ManualClockTests {
  @Test("sleepers wake when they are due, in the order of their times")
  func order() async throws {
    let clock = ManualClock()
    let woken = Journal<Int>()
    for seconds in [3, 1, 2] {
      Task {
        try await clock.sleep(for: .seconds(seconds))
        woken.append(seconds)
      }
    }
    try await eventually("all tasks sleep") { clock.sleeping == [1, 2, 3] }
    for second in 1...3 {
      clock.advance(by: 1)
      try await eventually("the next sleeper is awake") { woken.entries == Array(1...second) }
    }
  }

  @Test("setting the time of day wakes no sleeper, and a reboot restarts the uptime")
  func jumps() async throws {
    let clock = ManualClock()
    let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
    try await eventually("the task sleeps") { clock.sleeping == [10] }
    let start = clock.now
    clock.setDate(by: 86_400)
    #expect(clock.sleeping == [10])
    #expect(clock.now.seconds(since: start) == 0)
    clock.reboot()
    #expect(clock.now.seconds(since: start) == 86_400)
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }
}
