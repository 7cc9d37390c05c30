public import Foundation

/// The time as the engine sees it; another one takes the place of the machine's in tests and simulations.
public protocol FetchClock: Sendable {
  /// Both clocks at once.
  var now: FetchMoment { get }
  /// Waits, by the clock that goes on while the machine sleeps.
  ///
  /// - Throws: `CancellationError` once the task is cancelled.
  func sleep(for duration: Duration) async throws
}

/// A moment by two clocks: people set one of them, the other starts anew with each boot.
public struct FetchMoment: Sendable, Hashable, Codable {
  /// The time of day, which may jump.
  public var date: Date
  /// Since the boot, time asleep included, in seconds; it never goes back.
  public var uptime: Double
  /// Which boot: uptimes of two boots do not compare.
  public var boot: String

  /// A moment.
  ///
  /// - Parameters:
  ///   - date: The time of day.
  ///   - uptime: Seconds since the boot, time asleep included.
  ///   - boot: What the boot is called; any text that is another for another boot.
  public init(date: Date, uptime: Double, boot: String) {
    self.date = date
    self.uptime = uptime
    self.boot = boot
  }

  /// The seconds that have passed since an earlier moment: by the steady clock within one boot, by the time of day
  /// across boots, where they are negative if that was set back.
  public func seconds(since earlier: FetchMoment) -> Double {
    boot == earlier.boot ? uptime - earlier.uptime : date.timeIntervalSince(earlier.date)
  }
}
