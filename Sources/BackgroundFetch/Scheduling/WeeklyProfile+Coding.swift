import Foundation

extension WeeklyProfile: Codable {
  private enum CodingKeys: String, CodingKey {
    case counts, exposure, evidence, nextDay, pending, usual, lateness, learnsSilence
  }

  /// The valid day numbers. A machine's clock shows no day outside this range.
  private static let days = -2_000_000...2_000_000

  /// Decodes the output of ``encode(to:)``.
  ///
  /// - Throws: `DecodingError` for values that ``encode(to:)`` cannot have written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func check(_ isValid: Bool, _ key: CodingKeys) throws {
      guard isValid else {
        throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "out of range")
      }
    }
    let usual = try container.decode(Double.self, forKey: .usual)
    try check(0.1...95 ~= usual, .usual)
    let lateness = try container.decode(Int.self, forKey: .lateness)
    try check(0...7 ~= lateness, .lateness)
    self.init(
      usual: usual, lateness: lateness, learnsSilence: try container.decode(Bool.self, forKey: .learnsSilence))

    let bytes = try container.decode(Data.self, forKey: .counts)
    try check(bytes.count == 4 * LocalQuarter.perWeek, .counts)
    let words = Array(bytes)
    counts = (0..<LocalQuarter.perWeek).map { index in
      Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(words[4 * index + $1]) << (8 * UInt32($1)) })
    }
    try check(counts.allSatisfy { 0...1000 ~= $0 }, .counts)
    exposure = try container.decode([Double].self, forKey: .exposure)
    try check(exposure.count == 7 && exposure.allSatisfy { 0...1000 ~= $0 }, .exposure)
    evidence = try container.decode([Double].self, forKey: .evidence)
    try check(evidence.count == ProfileModels.count && evidence.allSatisfy { abs($0) <= 1e6 }, .evidence)
    nextDay = try container.decodeIfPresent(Int.self, forKey: .nextDay)
    try check(nextDay.map(Self.days.contains) ?? true, .nextDay)
    let quarters = try container.decode([Int].self, forKey: .pending)
    try check(quarters.count <= 96 * 32 && quarters.allSatisfy { Self.days ~= $0 / LocalQuarter.perDay }, .pending)
    pending = Set(quarters.map(LocalQuarter.init(number:)))
    estimate()
  }

  /// Encodes about 5 KB: the counts as the base64 of 672 little-endian 32-bit floats, the rest as numbers.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(usual, forKey: .usual)
    try container.encode(lateness, forKey: .lateness)
    try container.encode(learnsSilence, forKey: .learnsSilence)
    let bytes = counts.flatMap { count in (0..<4).map { UInt8(truncatingIfNeeded: count.bitPattern >> (8 * $0)) } }
    try container.encode(Data(bytes), forKey: .counts)
    try container.encode(exposure, forKey: .exposure)
    try container.encode(evidence.map { ($0 * 1e6).rounded() / 1e6 }, forKey: .evidence)
    try container.encodeIfPresent(nextDay, forKey: .nextDay)
    try container.encode(pending.map(\.number).sorted(), forKey: .pending)
  }
}
