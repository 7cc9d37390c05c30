extension FetchScheduler: Decodable {
  enum CodingKeys: String, CodingKey {
    case interval, openings, news, sources, pushes, lastWake, failures, seed, price
    case dailyLimit = "allowance"
    case lastSuccess, lastFailure, holding, suggestion, reconnection
    case openWake, offline, offlineRuns
    case isWakeMissed = "missed"
    case isWaitingForNetwork = "waitsForNetwork"
    case isCopyUnfinished = "unfinishedCopy"
  }

  /// Decodes an encoded scheduler. The time zone is not encoded: it is that of the machine.
  ///
  /// - Throws: `DecodingError` for malformed values. Failure counts and waiting times are clamped instead.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    interval = try container.decode(FetchInterval.self, forKey: .interval)
    seed = try container.decode(UInt64.self, forKey: .seed)
    openings = try container.decode(WeeklyProfile.self, forKey: .openings)
    news = try container.decode(WeeklyProfile.self, forKey: .news)
    sources = try container.decode([FetchSource].self, forKey: .sources)
    pushes = try container.decode(PushRateLimit.self, forKey: .pushes)
    lastWake = try container.decodeIfPresent(FetchInstant.self, forKey: .lastWake)
    failures = min(max(try container.decode(Int.self, forKey: .failures), 0), 1000)
    price = try container.decode(WakePrice.self, forKey: .price)
    dailyLimit = try container.decode(DailyWakeLimit.self, forKey: .dailyLimit)
    lastSuccess = try container.decodeIfPresent(FetchInstant.self, forKey: .lastSuccess)
    lastFailure = try container.decodeIfPresent(FetchInstant.self, forKey: .lastFailure)
    func waitingPeriod(_ key: CodingKeys, maximum: Duration) throws -> WaitingPeriod? {
      try container.decodeIfPresent(WaitingPeriod.self, forKey: key).map {
        WaitingPeriod($0.seconds, from: $0.start, maximum: maximum.inSeconds)
      }
    }
    holding = try waitingPeriod(.holding, maximum: Self.maximumHold)
    suggestion = try waitingPeriod(.suggestion, maximum: Self.maximumSuggestion)
    reconnection = try waitingPeriod(.reconnection, maximum: Self.maximumStartupDelay)
    openWake = try container.decodeIfPresent(OpenWake.self, forKey: .openWake)
    offline = try waitingPeriod(.offline, maximum: .seconds(Self.maximumOfflineRetryInterval))
    offlineRuns = min(max(try container.decodeIfPresent(Int.self, forKey: .offlineRuns) ?? 0, 0), 1000)
    isWakeMissed = try container.decodeIfPresent(Bool.self, forKey: .isWakeMissed) ?? false
    isWaitingForNetwork = try container.decodeIfPresent(Bool.self, forKey: .isWaitingForNetwork) ?? false
    isCopyUnfinished = try container.decodeIfPresent(Bool.self, forKey: .isCopyUnfinished) ?? false
  }
}
