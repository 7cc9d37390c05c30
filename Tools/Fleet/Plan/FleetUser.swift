import BackgroundFetch
import FetchSimulator
import Foundation
import News
import TestKit

/// A user with a phone, whose app has learned habits for a week before the day.
///
/// The openings are those of a persona of `FetchSimulator`, and the wakes are those of the client's `FetchScheduler`.
struct FleetUser {
  let persona: Persona
  let zone: TimeZone
  /// The topics that the user follows, sorted; empty for the whole feed.
  let topics: [String]
  let push: PushProvider?
  let seed: UInt64

  /// The reasons of a fetch.
  enum Reason: Hashable {
    case wake, open, push
  }

  /// A fetch. Its time is in seconds since the beginning of the day.
  struct Fetch: Hashable {
    var time: Double
    var reason: Reason
  }

  /// Returns the fetches of the day and the last one before it, in order.
  ///
  /// - Parameters:
  ///   - items: The times of the publications that the user follows, in seconds since the beginning of the day.
  ///   - pushes: The times of the pushes that the phone receives, in order.
  func fetches(items: [Double], pushes: [Double]) throws -> [Fetch] {
    let openings = try openings()
    var scheduler = FetchScheduler(interval: .minimum, seed: seed, timeZone: zone)
    var fetches: [Fetch] = []
    var stored = items.count { $0 < Self.start }
    var (now, opened, pushed) = (Self.start, 0, pushes.count { $0 < Self.start })
    while true {
      let opening = opened < openings.count ? openings[opened] : .infinity
      let push = pushed < pushes.count ? pushes[pushed] : .infinity
      let decision = scheduler.decision(at: Self.instant(now))
      var due = now
      if case .wait(let date, _) = decision { due = max(now, date.timeIntervalSince(NewsroomDay.dayStart)) }
      if case .never = decision { due = .infinity }
      let next = min(opening, push, due)
      guard next < 86_400 else { break }
      let hasWaited = next > now
      now = next
      let moment = Self.instant(now)
      let reason: Reason
      if opening <= next {
        opened += 1
        scheduler.recordOpening(at: moment)
        reason = .open
      } else if push <= next {
        pushed += 1
        // Pushes over the client's limit wait.
        guard scheduler.receivePush(at: moment) else { continue }
        scheduler.wakeStarted(.push, at: moment)
        reason = .push
      } else if hasWaited {
        // The decision may be another one at the end of the wait.
        continue
      } else if case .wake(.push, _) = decision, scheduler.takePendingPush(at: moment) {
        scheduler.wakeStarted(.push, at: moment)
        reason = .push
      } else {
        scheduler.wakeStarted(at: moment)
        reason = .wake
      }
      let found = items.count { $0 <= now } - stored
      scheduler.record(run(reason, at: moment, items: found), contentDates: contents(items, stored, found), at: moment)
      stored += found
      fetches.append(Fetch(time: now, reason: reason))
    }
    let first = fetches.firstIndex { $0.time >= 0 } ?? fetches.count
    return Array(fetches[max(0, first - 1)...])
  }

  /// The first moment of the learned days, in seconds before the beginning of the day.
  private static let start = -Double(NewsroomDay.learnedDays) * 86_400

  private static func instant(_ time: Double) -> FetchInstant {
    // An uptime of a day excludes the delay after a boot.
    FetchInstant(date: NewsroomDay.dayStart + time, uptime: time - start + 86_400, boot: "simulation")
  }

  private func contents(_ items: [Double], _ stored: Int, _ found: Int) -> [Date] {
    items[stored..<stored + found].map { NewsroomDay.dayStart + $0 }
  }

  private func run(_ reason: Reason, at moment: FetchInstant, items: Int) -> RunRecord {
    let cause: FetchReason =
      switch reason {
      case .wake: .scheduled
      case .open: .launch
      case .push: .push
      }
    let bytes = items == 0 ? Simulation.emptyBytes : Simulation.headBytes + items * Simulation.itemBytes
    return RunRecord(
      reason: cause, result: items == 0 ? .noData : .newData, started: moment.date, items: items, bytes: bytes,
      requests: 1, cpuMilliseconds: 20, wallMilliseconds: 400)
  }

  /// Returns the openings of the learned days and the day. A simulation without wakes lists them.
  private func openings() throws -> [Double] {
    let json = #"{"name":"","kind":"scheduler","interval":"never"}"#
    let policy = try JSONDecoder().decode(Policy.self, from: Data(json.utf8))
    let newsroom = Newsroom(name: "", about: "", published: [])
    // Another day on both sides, because the days of other time zones begin earlier or later.
    let simulation = Simulation(
      persona: persona, newsroom: newsroom, days: NewsroomDay.learnedDays + 3, seed: seed,
      start: NewsroomDay.start - 43_200, zone: zone)
    return simulation.run([policy]).flatMap(\.openings).map { $0.timeIntervalSince(NewsroomDay.dayStart) }
      .filter { $0 >= Self.start }
  }
}
