import Foundation

/// The machine's clocks.
///
/// The uptime counts from the boot and continues while the machine sleeps, as `ContinuousClock` does: on Linux it is
/// `CLOCK_BOOTTIME` (clock_gettime(2)), on Apple platforms `CLOCK_MONOTONIC_RAW` (mach_continuous_time(3)). Elsewhere
/// it counts from the first use in this process, and each process counts as a boot of its own. Instants of two
/// processes are then compared by the time of day.
///
///     let clock = SystemClock()
///     let start = clock.now
///     try await clock.sleep(for: .milliseconds(20))
///     print(clock.now.seconds(since: start))
public struct SystemClock: FetchClock {
  /// Creates a clock.
  public init() {}

  /// The time of day and the time since the boot.
  public var now: FetchInstant {
    FetchInstant(date: Date(), uptime: Self.uptime, boot: Self.boot)
  }

  /// Waits. Time during which the machine sleeps counts.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func sleep(for duration: Duration) async throws {
    try await ContinuousClock().sleep(for: duration)
  }

  #if os(Linux)
    private static var uptime: Double {
      var time = timespec()
      // The call fails only for unknown clocks. This one was added in Linux 2.6.39.
      clock_gettime(CLOCK_BOOTTIME, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// A UUID that the kernel makes at each boot (random(4)). Without `/proc`, each process counts as a boot of its
    /// own.
    private static let boot =
      (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))
      .map { String($0.prefix { !$0.isNewline }) } ?? UUID().uuidString
  #elseif canImport(Darwin)
    private static var uptime: Double { Double(clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)) / 1e9 }

    /// A UUID that the kernel makes at each boot. Where the sandbox hides it, each process counts as a boot of its own.
    private static let boot: String = {
      var bytes = [UInt8](repeating: 0, count: 64)
      var size = bytes.count
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return UUID().uuidString }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }()
  #else
    private static let start = ContinuousClock.now
    private static let boot = UUID().uuidString

    private static var uptime: Double { (ContinuousClock.now - start).inSeconds }
  #endif
}
