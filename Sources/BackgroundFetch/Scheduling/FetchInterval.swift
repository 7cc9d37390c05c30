/// How often the app wants to be woken for a fetch at most.
public enum FetchInterval: Sendable, Hashable {
  /// Never, which is what an app has that asked for nothing.
  case never
  /// As often as the scheduler sees fit, and not more often than ``floor``.
  case minimum
  /// At least so many seconds lie between two wakes. The scheduler decides when there are more.
  case seconds(Double)

  /// Two scheduled wakes are never closer than this, in seconds, whatever is asked for.
  public static let floor = 900.0
  /// The longest that can be asked for, in seconds: 30 days.
  public static let longest = 2_592_000.0

  /// The least number of seconds between two scheduled wakes; nil if there are none.
  public var seconds: Double? {
    switch self {
    case .never: nil
    case .minimum: Self.floor
    case .seconds(let seconds): seconds.isNaN ? Self.longest : min(max(seconds, Self.floor), Self.longest)
    }
  }
}

extension FetchInterval: LosslessStringConvertible {
  /// Reads what people type.
  ///
  /// - Parameter text: `never`, `minimum`, or a number with an optional unit of `s`, `m`, `h` or `d`: `3600`, `90m`,
  ///   `1.5h`.
  /// - Returns: nil for anything else, and outside of 1 second to ``longest``.
  public init?(_ text: String) {
    switch text {
    case "never": self = .never
    case "minimum": self = .minimum
    default:
      let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
      let unit = text.last.flatMap { units[$0] }
      let number = unit == nil ? text[...] : text.dropLast()
      guard number.first?.isNumber == true, number.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
        let value = Double(number), 1...Self.longest ~= value * (unit ?? 1)
      else { return nil }
      self = .seconds(value * (unit ?? 1))
    }
  }

  /// `never`, `minimum`, or the number of seconds.
  public var description: String {
    switch self {
    case .never: "never"
    case .minimum: "minimum"
    case .seconds(let seconds): Int(exactly: seconds).map { String($0) } ?? String(seconds)
    }
  }

}

extension FetchInterval: Codable {
  /// Reads a JSON string.
  ///
  /// - Throws: `DecodingError` for anything that ``init(_:)`` does not take.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let interval = FetchInterval(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an interval between fetches")
    }
    self = interval
  }

  /// Writes the ``description`` as a JSON string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
