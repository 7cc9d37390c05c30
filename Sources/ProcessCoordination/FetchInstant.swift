public import Foundation

/// An instant on two clocks: the time of day, which users may set, and the uptime, which starts again with each boot.
///
///     let start = FetchInstant(date: Date(timeIntervalSince1970: 0), uptime: 10, boot: "first")
///     let later = FetchInstant(date: Date(timeIntervalSince1970: 5), uptime: 40, boot: "first")
///     print(later.seconds(since: start))  // 30.0
public struct FetchInstant: Sendable, Hashable, Codable {
  /// The time of day, which may jump.
  public var date: Date
  /// The number of seconds since the boot, time asleep included. It never decreases.
  public var uptime: Double
  /// The identifier of the boot. Uptimes of different boots are not comparable.
  public var boot: String

  /// Creates an instant.
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

  /// Returns the seconds since an earlier instant. They are measured by the uptime within a boot, and by the time of
  /// day across boots. Across boots, the result is negative if the clock was set back.
  public func seconds(since earlier: FetchInstant) -> Double {
    boot == earlier.boot ? uptime - earlier.uptime : date.timeIntervalSince(earlier.date)
  }
}
