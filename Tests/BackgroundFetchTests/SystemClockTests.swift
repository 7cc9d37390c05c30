import BackgroundFetch
import Foundation
import Testing

@Suite("System clock")
struct SystemClockTests {
  @Test("the uptime never decreases and equals that of the kernel")
  func uptime() throws {
    let clock = SystemClock()
    let first = clock.now
    let kernel = try #require(
      try String(contentsOfFile: "/proc/uptime", encoding: .utf8).split(separator: " ").first.flatMap { Double($0) })
    let second = clock.now
    // The kernel truncates its value to two decimals.
    #expect(first.uptime - 0.01 <= kernel && kernel <= second.uptime)
    #expect(second.seconds(since: first) >= 0)
  }

  @Test("the boot identifier is that of the kernel")
  func boot() throws {
    let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    #expect(SystemClock().now.boot + "\n" == boot)
  }

  @Test("sleep takes at least the requested time")
  func sleep() async throws {
    let clock = SystemClock()
    let start = clock.now
    try await clock.sleep(for: .milliseconds(20))
    #expect(clock.now.seconds(since: start) >= 0.02)
  }

  @Test("cancellation ends a sleep")
  func cancellation() async {
    let task = Task { try await SystemClock().sleep(for: .seconds(1_000_000)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
