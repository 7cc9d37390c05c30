import BackgroundFetch
import Foundation
import TestKit
import Testing

@Suite struct `The daily limit of wakes` {
  private func seven(_ hours: [Double], seed: UInt64) -> (scheduler: FetchScheduler, counts: [Int]) {
    var scheduler = scheduler(seed: seed)
    let learned = hours.isEmpty ? 0 : 14
    if !hours.isEmpty { _ = learn(&scheduler, days: learned, hours: hours) }
    let start = Double(learned) * day
    let wakes = scheduler.simulate(from: start, to: start + 7 * day)
    return (scheduler, perDay(wakes, from: start, days: 7))
  }

  @Test(arguments: slice(of: UInt64(0)..<3))
  func `Each of seven days with noData has fewer wakes than the day before, with and without habits`(_ seed: UInt64) {
    for hours in [[], [6, 7.5, 9, 10.5, 12, 13.5, 15, 16.5, 18, 20, 22]] {
      let counts = seven(hours, seed: seed).counts
      #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 > $1 }, "\(counts)")
      #expect(counts[6] >= 1)
    }
  }

  @Test(arguments: [[13.0], [8, 20], [7.5, 12, 18, 22]])
  func `A few wakes a day become fewer until one a day is left`(_ hours: [Double]) {
    let counts = seven(hours, seed: 3).counts
    #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 > $1 || $1 == 1 }, "\(counts)")
    #expect(counts[6] == 1)
  }

  @Test func `There is a wake in each 24 hours, even after weeks without news`() {
    var scheduler = scheduler()
    let wakes = scheduler.simulate(from: 0, to: 60 * day)
    #expect(zip(wakes.dropFirst(), wakes).allSatisfy { $0 - $1 <= day })
    #expect(perDay(wakes, from: 30 * day, days: 30).allSatisfy { $0 <= 2 })
  }

  @Test func `One newData removes the limit`() {
    var (scheduler, counts) = seven([], seed: 5)
    scheduler.record(
      RunRecord(reason: .scheduled, result: .newData, started: monday + 7 * day), contentDates: [monday + 7 * day],
      at: moment(7 * day))
    let wakes = scheduler.simulate(from: 7 * day, to: 8 * day) { now in (.newData, [monday + now]) }
    #expect(wakes.count > 2 * counts[6], "\(counts) \(wakes.count)")
    #expect(scheduler.decision(at: moment(8 * day)).reason != .nothingNew)
  }

  @Test func `News late in a day prevent the limit for the next day`() {
    var scheduler = scheduler()
    let counts = perDay(
      scheduler.simulate(from: 0, to: 7 * day) { now in
        now.truncatingRemainder(dividingBy: day) < 20 * hour ? (.noData, []) : (.newData, [])
      }, days: 7)
    #expect(counts.dropFirst().allSatisfy { $0 >= counts[0] - 1 }, "\(counts)")
  }

  @Test func `A first day that starts at noon counts as half a day`() {
    var scheduler = scheduler()
    let counts = perDay(scheduler.simulate(from: 12 * hour, to: 2 * day), days: 2)
    #expect(counts[0] >= 4 && counts[1] > counts[0], "\(counts)")
  }

  @Test func `A wake for a push does not count as a scheduled wake`() {
    var scheduler = scheduler()
    _ = scheduler.simulate(from: 0, to: 30 * day)
    let now = moment(30 * day + 60)
    let isWake = scheduler.receivePush(at: now)
    #expect(isWake)
    scheduler.wakeStarted(.push, at: now)
    scheduler.record(RunRecord(reason: .push, result: .noData, started: now.date), at: now)
    #expect(scheduler.simulate(from: 30 * day + 61, to: 31 * day).count == 1)
  }

  @Test func `Failed fetches do not set a limit`() {
    var scheduler = scheduler()
    let counts = perDay(scheduler.simulate(from: 0, to: 4 * day) { _ in (.failed, []) }, days: 4)
    #expect(Set(counts[1...]).count <= 2 && counts[3] >= 3)
  }
}
