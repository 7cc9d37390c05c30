import ArgumentParser
import News

/// A duration on the command line: a whole number with a unit, such as `90d`. Zero needs no unit.
struct TimeSpan: ExpressibleByArgument {
  private static let units: [Character: Int] = ["w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1]
  /// The maximum, in seconds: a million days.
  private static let maximum = 86_400_000_000

  let duration: Duration

  init?(argument: String) {
    if argument == "0" {
      duration = .zero
      return
    }
    guard let unit = argument.last.flatMap({ Self.units[$0] }), argument.dropLast().utf8.allSatisfy(\.isASCIIDigit),
      let count = Int(argument.dropLast()), count <= Self.maximum / unit
    else { return nil }
    duration = .seconds(count * unit)
  }

  init(_ duration: Duration) {
    self.duration = duration
  }
}
