import NewsStore
import Testing

/// The lag of a standby, from positions in the log of the primary.
@Suite struct StandbyLagTests {
  private static let start = ContinuousClock.now

  private static func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test("The lag is unknown before the standby answers, and 0 while it has everything, however long nothing is written")
  func idle() {
    var lag = StandbyLag()
    lag.note(primary: 100, at: Self.at(0))
    #expect(lag.value(at: Self.at(5)) == nil)
    lag.note(replayed: 100)
    #expect(lag.value(at: Self.at(5)) == .zero)
    for second in 6...3600 { lag.note(primary: 100, at: Self.at(second)) }
    #expect(lag.value(at: Self.at(3600)) == .zero)
  }

  @Test("The lag is the age of the oldest change that the standby lacks, also while it does not answer")
  func behind() {
    var lag = StandbyLag()
    lag.note(replayed: 100)
    for second in 1...60 { lag.note(primary: 100 + second, at: Self.at(second)) }
    #expect(lag.value(at: Self.at(60)) == .seconds(59))
    lag.note(replayed: 130)
    #expect(lag.value(at: Self.at(60)) == .seconds(29))
    #expect(lag.value(at: Self.at(90)) == .seconds(59))
    lag.note(replayed: 500)
    #expect(lag.value(at: Self.at(90)) == .zero)
  }

  @Test("A standby that lags for days needs bounded memory, and its lag stays right")
  func bounded() {
    var lag = StandbyLag()
    lag.note(replayed: 0)
    for second in 1...100_000 { lag.note(primary: second, at: Self.at(second)) }
    #expect(lag.positions.count <= StandbyLag.maximumPositions)
    #expect(lag.value(at: Self.at(100_000)) == .seconds(99_999))
    lag.note(replayed: 50_000)
    // The precision is the interval of the positions that are kept.
    let seconds = (lag.value(at: Self.at(100_000)) ?? .zero) / .seconds(1)
    #expect((49_000...50_000).contains(seconds), "\(seconds)")
  }
}
