import BackgroundFetch
public import Foundation

/// A simulation of a user, a newsroom and a policy that wakes the app, over several days of virtual time.
///
/// A **hit** is an opening of the app that finds all news on the device, including the newest item, before any request.
/// Openings without new items since the last opening count neither as hits nor as misses. Each opening is followed by a
/// refresh, which does not count as a wake.
///
///     let catalogue = try Catalogue.shipped()
///     for persona in catalogue.personas {
///       let simulation = Simulation(persona: persona, newsroom: catalogue.newsrooms[0], days: 28, seed: 1)
///       print(Report(simulation.run(catalogue.policies), in: .gmt))
///     }
public struct Simulation: Sendable {
  /// The duration of a fetch, in seconds. An opening during a fetch does not find its items.
  public static let duration = 2.0
  /// The size of a response without news, in bytes.
  public static let emptyBytes = 300
  /// The size of a response with news, in bytes, without its items.
  public static let headBytes = 500
  /// The size of an item, in bytes.
  public static let itemBytes = 600

  let persona: Persona
  let newsroom: Newsroom
  let days: VirtualDays
  let seed: UInt64
  let zone: TimeZone
  let openings: [Date]
  let items: [Date]

  /// Creates a simulation. The same arguments give the same openings and items.
  ///
  /// - Parameters:
  ///   - persona: The user who opens the app.
  ///   - newsroom: The newsroom that publishes items.
  ///   - days: The number of days, at least 1. The scheduler starts without learned habits.
  ///   - seed: The seed of all random numbers.
  ///   - start: Any time of the first day.
  ///   - zone: The time zone of the persona and the newsroom.
  public init(
    persona: Persona, newsroom: Newsroom, days: Int, seed: UInt64,
    start: Date = Date(timeIntervalSince1970: 1_788_134_400), zone: TimeZone = .gmt
  ) {
    self.persona = persona
    self.newsroom = newsroom
    self.days = VirtualDays(max(1, days), from: start, in: zone)
    self.seed = seed
    self.zone = zone
    let bounds = self.days.start..<self.days.end
    openings = persona.openings(in: self.days, seed: seed &* 2 &+ 1).filter(bounds.contains)
    items = newsroom.items(in: self.days, seed: seed &* 2 &+ 2).filter(bounds.contains)
  }

  /// Runs the policies. The other kinds have about as many wakes as the scheduler.
  ///
  /// - Returns: An outcome for each policy, in the same order. If no policy is a scheduler, one with the interval
  ///   `minimum` determines the number of wakes.
  public func run(_ policies: [Policy]) -> [Outcome] {
    let scheduler = policies.first { $0.kind == .scheduler } ?? Policy(name: "scheduler", kind: .scheduler)
    let reference = runScheduler(scheduler)
    return policies.map { policy in
      switch policy.kind {
      case .scheduler: policy == scheduler ? reference : runScheduler(policy)
      case .fixed: runFixed(policy, wakes: reference.wakes.count)
      case .exponential: runExponential(policy, wakes: reference.wakes.count)
      }
    }
  }

  private func runScheduler(_ policy: Policy) -> Outcome {
    var scheduler = FetchScheduler(interval: policy.interval ?? .minimum, seed: seed, timeZone: zone)
    var device = Device(self)
    while let date = device.next(
      from: { now in
        switch scheduler.decision(at: moment(now)) {
        case .wake: now
        case .wait(let date, _): date
        case .never: .distantFuture
        }
      })
    {
      let isOpening = device.isOpening(date)
      if isOpening {
        scheduler.recordOpening(at: moment(date))
      } else {
        scheduler.wakeStarted(at: moment(date))
      }
      let fetch = isOpening ? device.open(date) : device.wake(date)
      let run = RunRecord(
        reason: isOpening ? .launch : .scheduled, result: fetch.items.isEmpty ? .noData : .newData, started: date,
        items: fetch.items.count, bytes: fetch.bytes, requests: 1, cpuMilliseconds: 20, wallMilliseconds: 400)
      scheduler.record(run, contentDates: Array(fetch.items), at: moment(date))
    }
    return device.outcome(of: policy)
  }

  private func runFixed(_ policy: Policy, wakes: Int) -> Outcome {
    let interval = days.end.timeIntervalSince(days.start) / Double(max(1, wakes))
    let jitter = min(max(policy.jitter ?? 0, 0), 1)
    return run(policy, interval: interval) { _, generator in
      max(1, interval * (1 + jitter * (2 * generator.unit() - 1)))
    }
  }

  /// Finds the shortest interval that results in the given number of wakes.
  private func runExponential(_ policy: Policy, wakes: Int) -> Outcome {
    var low = 60.0
    var high = days.end.timeIntervalSince(days.start)
    var best = runExponential(policy, minimum: high)
    for _ in 0..<16 {
      let middle = (low * high).squareRoot()
      let outcome = runExponential(policy, minimum: middle)
      if abs(outcome.wakes.count - wakes) <= abs(best.wakes.count - wakes) { best = outcome }
      if outcome.wakes.count > wakes { low = middle } else { high = middle }
    }
    return best
  }

  private func runExponential(_ policy: Policy, minimum: Double) -> Outcome {
    let maximum = minimum * max(1, policy.maximumFactor ?? 16)
    var interval = minimum
    return run(policy, interval: minimum) { hasItems, _ in
      interval = hasItems ? minimum : min(maximum, interval * max(1, policy.factor ?? 2))
      return interval
    }
  }

  /// - Parameters:
  ///   - interval: The maximum number of seconds to the first wake.
  ///   - next: Returns the seconds to the next wake, given whether the last one has found items.
  private func run(
    _ policy: Policy, interval: Double, next: (Bool, inout SeededGenerator) -> Double
  ) -> Outcome {
    var generator = SeededGenerator(seed: seed &+ 0x5eed)
    var device = Device(self)
    var due = days.start + interval * generator.unit()
    while let date = device.next(from: { max($0, due) }) {
      if device.isOpening(date) {
        _ = device.open(date)
      } else {
        due = date + next(!device.wake(date).items.isEmpty, &generator)
      }
    }
    return device.outcome(of: policy)
  }

  private func moment(_ date: Date) -> FetchInstant {
    // An uptime of a day excludes the delay after a boot.
    FetchInstant(date: date, uptime: date.timeIntervalSince(days.start) + 86_400, boot: "simulation")
  }
}
