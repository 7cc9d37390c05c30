public import Foundation

/// The clock of the engine. Tests and simulations replace the machine's clock by another one.
///
///     let clock: any FetchClock = SystemClock()
///     let start = clock.now
///     try await clock.sleep(for: .milliseconds(20))
///     print(clock.now.seconds(since: start))
public protocol FetchClock: Sendable {
  /// The current moment, read from both clocks at once.
  var now: FetchMoment { get }
  /// Waits by the clock that continues while the machine sleeps.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  func sleep(for duration: Duration) async throws
}

/// A moment on two clocks: the time of day, which users may set, and the uptime, which starts anew with each boot.
///
///     let start = FetchMoment(date: Date(timeIntervalSince1970: 0), uptime: 10, boot: "first")
///     let later = FetchMoment(date: Date(timeIntervalSince1970: 5), uptime: 40, boot: "first")
///     print(later.seconds(since: start))  // 30.0
public struct FetchMoment: Sendable, Hashable, Codable {
  /// The time of day, which may jump.
  public var date: Date
  /// The number of seconds since the boot, time asleep included. It never decreases.
  public var uptime: Double
  /// The identifier of the boot. Uptimes of different boots are not comparable.
  public var boot: String

  /// Creates a moment.
  ///
  /// - Parameters:
  ///   - date: The time of day.
  ///   - uptime: The number of seconds since the boot, time asleep included.
  ///   - boot: The identifier of the boot: any text that differs between boots.
  public init(date: Date, uptime: Double, boot: String) {
    self.date = date
    self.uptime = uptime
    self.boot = boot
  }

  /// Returns the seconds since an earlier moment: by the uptime within one boot, by the time of day across boots. The
  /// latter is negative if the clock was set back.
  public func seconds(since earlier: FetchMoment) -> Double {
    boot == earlier.boot ? uptime - earlier.uptime : date.timeIntervalSince(earlier.date)
  }
}
