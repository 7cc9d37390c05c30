extension FetchScheduler: Codable {
  private enum CodingKeys: String, CodingKey {
    case interval, openings, news, sources, pushes, lastWake, failures, seed, price, allowance
    case lastSuccess, lastFailure, holding, suggestion, reconnection
    case openWake, offline, offlineRuns
  }

  /// Decodes the output of ``encode(to:)``. The time zone is the machine's.
  ///
  /// - Throws: `DecodingError` for malformed values. Failure counts and waiting times are clamped instead.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      interval: try container.decode(FetchInterval.self, forKey: .interval),
      seed: try container.decode(UInt64.self, forKey: .seed))
    openings = try container.decode(WeeklyProfile.self, forKey: .openings)
    news = try container.decode(WeeklyProfile.self, forKey: .news)
    sources = try container.decode([FetchSource].self, forKey: .sources)
    pushes = try container.decode(PushBudget.self, forKey: .pushes)
    lastWake = try container.decodeIfPresent(FetchMoment.self, forKey: .lastWake)
    failures = min(max(try container.decode(Int.self, forKey: .failures), 0), 1000)
    price = try container.decode(WakePrice.self, forKey: .price)
    allowance = try container.decode(WakeAllowance.self, forKey: .allowance)
    lastSuccess = try container.decodeIfPresent(FetchMoment.self, forKey: .lastSuccess)
    lastFailure = try container.decodeIfPresent(FetchMoment.self, forKey: .lastFailure)
    func waiting(_ key: CodingKeys, longest: Double) throws -> Waiting? {
      try container.decodeIfPresent(Waiting.self, forKey: key).map {
        Waiting($0.seconds, from: $0.start, longest: longest)
      }
    }
    holding = try waiting(.holding, longest: Self.longestHold)
    suggestion = try waiting(.suggestion, longest: Self.longestSuggestion)
    reconnection = try waiting(.reconnection, longest: Self.settling)
    openWake = try container.decodeIfPresent(OpenWake.self, forKey: .openWake)
    offline = try waiting(.offline, longest: Self.longestRetry)
    offlineRuns = min(max(try container.decodeIfPresent(Int.self, forKey: .offlineRuns) ?? 0, 0), 1000)
  }

  /// Encodes everything except the time zone.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(interval, forKey: .interval)
    try container.encode(openings, forKey: .openings)
    try container.encode(news, forKey: .news)
    try container.encode(sources, forKey: .sources)
    try container.encode(pushes, forKey: .pushes)
    try container.encodeIfPresent(lastWake, forKey: .lastWake)
    try container.encode(failures, forKey: .failures)
    try container.encode(seed, forKey: .seed)
    try container.encode(price, forKey: .price)
    try container.encode(allowance, forKey: .allowance)
    try container.encodeIfPresent(lastSuccess, forKey: .lastSuccess)
    try container.encodeIfPresent(lastFailure, forKey: .lastFailure)
    try container.encodeIfPresent(holding, forKey: .holding)
    try container.encodeIfPresent(suggestion, forKey: .suggestion)
    try container.encodeIfPresent(reconnection, forKey: .reconnection)
    try container.encodeIfPresent(openWake, forKey: .openWake)
    try container.encodeIfPresent(offline, forKey: .offline)
    if offlineRuns > 0 { try container.encode(offlineRuns, forKey: .offlineRuns) }
  }
}
