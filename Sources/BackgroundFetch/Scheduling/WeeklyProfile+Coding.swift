import Foundation

extension WeeklyProfile: Codable {
  private enum CodingKeys: String, CodingKey {
    case counts, exposure, evidence, nextDay, pending
    case expectedPerDay = "usual"
    case reportingDelay = "lateness"
    case countsInitialDays = "learnsSilence"
  }

  /// The valid day numbers. No clock shows a day outside this range.
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
    let expectedPerDay = try container.decode(Double.self, forKey: .expectedPerDay)
    try check(0.1...95 ~= expectedPerDay, .expectedPerDay)
    let reportingDelay = try container.decode(Int.self, forKey: .reportingDelay)
    try check(0...7 ~= reportingDelay, .reportingDelay)
    self.expectedPerDay = expectedPerDay
    self.reportingDelay = reportingDelay
    countsInitialDays = try container.decode(Bool.self, forKey: .countsInitialDays)

    let bytes = try container.decode(Data.self, forKey: .counts)
    try check(bytes.count == 4 * LocalQuarter.perWeek, .counts)
    counts = bytes.withUnsafeBytes { bytes in
      (0..<LocalQuarter.perWeek).map {
        Float(bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)))
      }
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
    try container.encode(expectedPerDay, forKey: .expectedPerDay)
    try container.encode(reportingDelay, forKey: .reportingDelay)
    try container.encode(countsInitialDays, forKey: .countsInitialDays)
    try container.encode(counts.map { $0.bitPattern.littleEndian }.withUnsafeBytes { Data($0) }, forKey: .counts)
    try container.encode(exposure, forKey: .exposure)
    try container.encode(evidence.map { ($0 * 1e6).rounded() / 1e6 }, forKey: .evidence)
    try container.encodeIfPresent(nextDay, forKey: .nextDay)
    try container.encode(pending.map(\.number).sorted(), forKey: .pending)
  }
}
