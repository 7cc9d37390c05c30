/// The minimum interval between two scheduled wakes.
///
/// The counterpart of the argument of `UIApplication.setMinimumBackgroundFetchInterval(_:)`.
///
///     var scheduler = FetchScheduler()
///     if let interval = FetchInterval("90m") { scheduler.setInterval(interval) }
///     print(scheduler.interval, scheduler.interval.duration ?? .zero)  // 5400 5400.0 seconds
public enum FetchInterval: Sendable, Hashable {
  /// No scheduled wakes; the value of a fresh install. The counterpart of `UIApplication.backgroundFetchIntervalNever`.
  case never
  /// As often as the scheduler decides, with at least ``minimumDuration`` between two wakes. The counterpart of
  /// `UIApplication.backgroundFetchIntervalMinimum`.
  case minimum
  /// The minimum time between two wakes, clamped to ``minimumDuration``...``maximumDuration``. The scheduler may wait
  /// longer.
  case duration(Duration)

  /// The minimum time between two scheduled wakes, for every interval: 15 minutes.
  public static let minimumDuration = Duration.seconds(900)
  /// The maximum interval: 30 days.
  public static let maximumDuration = Duration.seconds(2_592_000)

  /// The minimum time between two scheduled wakes, ``minimumDuration``...``maximumDuration``; nil for ``never``.
  public var duration: Duration? {
    switch self {
    case .never: nil
    case .minimum: Self.minimumDuration
    case .duration(let duration): min(max(duration, Self.minimumDuration), Self.maximumDuration)
    }
  }
}

extension FetchInterval: LosslessStringConvertible {
  /// Parses an interval that a user typed.
  ///
  /// - Parameter text: `never`, `minimum`, or a number with an optional unit of `s`, `m`, `h` or `d`: `3600`, `90m`,
  ///   `1.5h`.
  /// - Returns: nil for any other text, and for values outside 1 second...``maximumDuration``.
  public init?(_ text: String) {
    switch text {
    case "never": self = .never
    case "minimum": self = .minimum
    default:
      let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
      let unit = text.last.flatMap { units[$0] }
      let number = unit == nil ? text[...] : text.dropLast()
      guard number.first?.isNumber == true, number.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
        let value = Double(number), 1...Self.maximumDuration.inSeconds ~= value * (unit ?? 1)
      else { return nil }
      self = .duration(.seconds(value * (unit ?? 1)))
    }
  }

  /// `never`, `minimum`, or the number of seconds.
  public var description: String {
    switch self {
    case .never: "never"
    case .minimum: "minimum"
    case .duration(let duration):
      Int(exactly: duration.inSeconds).map { String($0) } ?? String(duration.inSeconds)
    }
  }
}

extension FetchInterval: Codable {
  /// Decodes a JSON string.
  ///
  /// - Throws: `DecodingError` for a string that ``init(_:)`` does not accept.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let interval = FetchInterval(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "not an interval: use never, minimum, or a time such as 90m")
    }
    self = interval
  }

  /// Encodes the ``description`` as a JSON string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
