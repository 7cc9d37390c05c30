/// The fields of a response that propose the time of the next request.
enum PollInterval {
  /// The maximum interval that a server may propose, in seconds: one day.
  static let maximum = 86_400.0

  /// Returns the server's proposal for the next wake in seconds: the longer of `X-Poll-Interval` and `max-age`,
  /// 0...``maximum``.
  static func proposal(pollInterval: String?, cacheControl: String?) -> Double? {
    let interval = pollInterval.flatMap(Int.init)
    let age = cacheControl?.lowercased().split { ", \t".contains($0) }
      .first { $0.hasPrefix("max-age=") }
      .flatMap { Int($0.dropFirst("max-age=".count)) }
    guard let proposal = [interval, age].compactMap({ $0 }).max(), proposal >= 0 else { return nil }
    return min(Double(proposal), maximum)
  }
}
