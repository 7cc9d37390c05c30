import BackgroundFetch
import Foundation
import TestKit
import Testing

@Suite struct `The stored state of the scheduler` {
  private func full() -> FetchScheduler {
    var generator = SplitMix64(seed: 3)
    var scheduler = scheduler(.duration(.seconds(1800)), seed: .max)
    var openings: [Double] = []
    for _ in 0..<200 { openings.append(.random(in: 0...20 * day, using: &generator)) }
    for number in 0..<20 { scheduler.setSource("a source with a long name \(number)", minimumInterval: .seconds(3600)) }
    _ = scheduler.simulate(from: 0, to: 20 * day, openings: openings.sorted()) { now in
      (.newData, (0..<60).map { monday + now - Double($0) * 700 })
    }
    scheduler.record(RunRecord(reason: .push, result: .failed, started: monday), at: moment(20 * day))
    for second in 0..<4 { _ = scheduler.receivePush(at: moment(20 * day + Double(second))) }
    scheduler.hold(for: .seconds(50), at: moment(20 * day))
    scheduler.suggest(.seconds(500), at: moment(20 * day))
    scheduler.reconnected(at: moment(20 * day))
    return scheduler
  }

  @Test func `A decoded scheduler makes the same decisions`() throws {
    let scheduler = full()
    let data = try JSONEncoder().encode(scheduler)
    #expect(data.count < 24_000)
    var again = try JSONDecoder().decode(FetchScheduler.self, from: data)
    again.timeZone = .gmt
    #expect(again.interval == .duration(.seconds(1800)) && again.failures == 1 && again.pushes.isPending)
    for number in 0..<100 {
      let now = moment(20 * day + Double(number) * 1000)
      #expect(again.decision(at: now) == scheduler.decision(at: now))
      #expect(again.holdRemaining(at: now) == scheduler.holdRemaining(at: now))
      #expect(again.pushDelay(at: now) == scheduler.pushDelay(at: now))
    }
  }

  @Test func `Times are stored as seconds`() throws {
    var scheduler = FetchScheduler(interval: .duration(.seconds(1800)))
    scheduler.setSource("main", minimumInterval: .seconds(3600))
    scheduler.hold(for: .seconds(50), at: moment(0))
    let json = String(decoding: try JSONEncoder().encode(scheduler), as: UTF8.self)
    for part in [#""interval":"1800""#, #""minimumInterval":3600"#, #""seconds":50"#] {
      #expect(json.contains(part), "\(json)")
    }
    let source = #"{"name":"main","minimumInterval":1e300}"#
    let decoded = try JSONDecoder().decode(FetchSource.self, from: Data(source.utf8))
    #expect(decoded == FetchSource(name: "main", minimumInterval: FetchInterval.maximumDuration))
  }

  @Test func `A hold and a push with damaged times last a bounded time`() throws {
    var scheduler = FetchScheduler(interval: .minimum)
    for second in 0..<4 { _ = scheduler.receivePush(at: moment(Double(second))) }
    scheduler.hold(for: .seconds(50), at: moment(0))
    let json = String(decoding: try JSONEncoder().encode(scheduler), as: UTF8.self)
    let damaged = json.replacing(/"uptime":[0-9.e+]+/, with: "\"uptime\":1e300")
    let other = try JSONDecoder().decode(FetchScheduler.self, from: Data(damaged.utf8))
    #expect(other.holdRemaining(at: moment(0)) >= .zero)
    #expect(other.pushDelay(at: moment(0)) ?? .zero >= .zero)
    let long = json.replacing(#""seconds":50"#, with: #""seconds":1e300"#)
    let longest = try JSONDecoder().decode(FetchScheduler.self, from: Data(long.utf8))
    #expect(longest.holdRemaining(at: moment(0)) == FetchScheduler.maximumHold)
  }

  @Test func `Damaged JSON is an error or decodes to a working scheduler`() throws {
    let text = Array(try JSONEncoder().encode(full()))
    var generator = SplitMix64(seed: 8)
    let bytes = Array("0123456789-.eE\"{}[],:ntfAz+/=".utf8)
    var refused = 0
    for _ in 0..<80 {
      var damaged = text
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        // Half of the text is the base64 of the profiles, in which most changes only alter counts.
        let index = Int.random(in: damaged.indices, using: &generator)
        damaged[index] = bytes.randomElement(using: &generator) ?? 0
      }
      guard let scheduler = try? JSONDecoder().decode(FetchScheduler.self, from: Data(damaged)) else {
        refused += 1
        continue
      }
      var other = scheduler
      _ = other.simulate(from: 21 * day, to: 21.2 * day)
    }
    #expect(refused > 20)
  }

  @Test func `Numbers out of range are refused`() throws {
    let data = try JSONEncoder().encode(full())
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let changes: [(String, String, Any)] = [
      ("openings", "exposure", [1, 2, 3]), ("openings", "exposure", [-1, 0, 0, 0, 0, 0, 0]),
      ("openings", "counts", "AAAA"),
      ("news", "counts", Data(repeating: 0xff, count: 2688).base64EncodedString()), ("news", "usual", 0),
      ("news", "lateness", 99), ("news", "evidence", []), ("openings", "pending", [Int.max]),
      ("openings", "nextDay", Int.min), ("allowance", "start", 96),
      ("allowance", "wakes", -1), ("allowance", "limit", 0),
    ]
    for (part, key, value) in changes {
      var object = object
      var inner = try #require(object[part] as? [String: Any])
      inner[key] = value
      object[part] = inner
      let damaged = try JSONSerialization.data(withJSONObject: object)
      #expect(throws: DecodingError.self, "\(part).\(key)") {
        try JSONDecoder().decode(FetchScheduler.self, from: damaged)
      }
    }
  }
}
