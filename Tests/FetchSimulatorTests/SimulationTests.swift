import BackgroundFetch
import FetchSimulator
import Foundation
import Testing

@Suite struct `Simulation of days` {
  private let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt

  private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }

  @Test func `Five personas, three newsrooms and four policies are shipped`() throws {
    let catalogue = try Catalogue.shipped()
    #expect(
      catalogue.personas.map(\.name) == ["commuter", "night-owl", "one-pm-reader", "random", "weekend-reader"])
    #expect(catalogue.newsrooms.map(\.name) == ["breaking-day", "hourly-bulletin", "office-hours"])
    #expect(catalogue.policies.map(\.name) == ["scheduler", "exponential", "fixed", "fixed-jitter"])
  }

  @Test func `The outcome depends only on the seed`() throws {
    let catalogue = try Catalogue.shipped()
    func run(_ seed: UInt64) -> [Outcome] {
      Simulation(persona: catalogue.personas[0], newsroom: catalogue.newsrooms[0], days: 3, seed: seed)
        .run(catalogue.policies)
    }
    #expect(run(1) == run(1))
    #expect(run(1)[0].openings != run(2)[0].openings)
  }

  @Test func `The other policies have as many wakes as the scheduler`() throws {
    let catalogue = try Catalogue.shipped()
    for newsroom in catalogue.newsrooms {
      let outcomes = Simulation(persona: catalogue.personas[0], newsroom: newsroom, days: 10, seed: 4)
        .run(catalogue.policies)
      let wakes = outcomes.map(\.wakes.count)
      #expect(wakes.allSatisfy { abs($0 - wakes[0]) <= 4 }, "\(wakes)")
    }
  }

  @Test func `An opening is a hit if all news are on the device, and is not counted if there are none`() throws {
    let persona = try read(
      Persona.self,
      #"{"name":"p","about":"","visits":[{"days":"all","at":"12:00","spread":0,"probability":1},"#
        + #"{"days":"all","at":"13:00","spread":0,"probability":1}]}"#)
    let policy = try read(Policy.self, #"{"name":"s","kind":"scheduler"}"#)
    func outcome(_ at: String, _ until: String) throws -> Outcome {
      let newsroom = try read(
        Newsroom.self,
        #"{"name":"n","about":"","bulletins":[{"days":"all","from":"\#(at)","to":"\#(until)","#
          + #""every":60,"delay":0,"items":3}]}"#)
      return try #require(
        Simulation(persona: persona, newsroom: newsroom, days: 10, seed: 1).run([policy]).first)
    }
    let early = try outcome("06:00", "07:00")
    #expect(early.hits + early.misses == 10, "the second opening of a day has nothing new")
    #expect(early.hits >= 9)
    #expect(early.items == 3 * early.hits)
    #expect(early.wakes.count > early.openings.count)
    #expect(early.hitsPerWake == Double(early.hits) / Double(early.wakes.count))
    let expected = early.wakes.count * Simulation.emptyBytes
    let difference = early.hits * (Simulation.headBytes + 3 * Simulation.itemBytes - Simulation.emptyBytes)
    #expect(early.bytes == expected + difference)
    let sharp = try outcome("12:00", "12:01")
    #expect(sharp.hits == 0 && sharp.misses == 10, "an item published at that moment cannot be on the device")
  }

  @Test(arguments: [
    ("all", 0...6), ("workdays", 0...4), ("weekend", 5...6), ("monday", 0...0), ("saturday", 5...5), ("sunday", 6...6),
  ])
  func `Habits occur only on their days`(_ days: String, _ weekdays: ClosedRange<Int>) throws {
    let persona = try read(
      Persona.self,
      #"{"name":"p","about":"","visits":[{"days":"\#(days)","at":"12:00","spread":0,"probability":1}]}"#)
    let newsroom = try read(Newsroom.self, #"{"name":"n","about":""}"#)
    let simulation = Simulation(persona: persona, newsroom: newsroom, days: 14, seed: 1)
    let opened = simulation.run([try read(Policy.self, #"{"name":"f","kind":"fixed","interval":"1d"}"#)])[0].openings
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    // Foundation numbers weekdays from Sunday, which is 1.
    #expect(Set(opened.map { (calendar.component(.weekday, from: $0) + 5) % 7 }) == Set(weekdays))
    #expect(opened.count == 2 * weekdays.count)
  }

  @Test func `Habits follow the local clock when daylight saving time changes`() throws {
    let persona = try #require(try Catalogue.shipped().personas.first { $0.name == "one-pm-reader" })
    let newsroom = try #require(try Catalogue.shipped().newsrooms.first)
    let policy = try read(Policy.self, #"{"name":"s","kind":"scheduler","interval":"2h"}"#)
    for start in ["2026-03-27T12:00:00Z", "2026-10-23T12:00:00Z"] {
      let date = try Date(start, strategy: .iso8601)
      let simulation = Simulation(
        persona: persona, newsroom: newsroom, days: 4, seed: 3, start: date, zone: berlin)
      let outcome = try #require(simulation.run([policy]).first)
      #expect(outcome.openings.count == 4)
      for opening in outcome.openings {
        let seconds = Int(opening.timeIntervalSince1970) + berlin.secondsFromGMT(for: opening)
        #expect(abs(seconds % 86_400 - 13 * 3600) < 900)
      }
      #expect(zip(outcome.wakes.dropFirst(), outcome.wakes).allSatisfy { $0.timeIntervalSince($1) >= 7200 })
    }
  }

  @Test(arguments: [
    (
      #"{"name":"p","about":"","visits":[{"days":"someday","at":"12:00","spread":0,"probability":1}]}"#,
      "visits.0.days: "
    ),
    (
      #"{"name":"p","about":"","visits":[{"days":"all","at":"25:00","spread":0,"probability":1}]}"#,
      "visits.0.at: not a time of day: write it as 13:00"
    ),
    (
      #"{"name":"p","about":"","visits":[{"days":"all","at":"12:60","spread":0,"probability":1}]}"#,
      "visits.0.at: not a time of day: write it as 13:00"
    ),
    (
      #"{"name":"p","about":"","visits":[{"days":"all","at":"1:00","spread":0,"probability":1}]}"#,
      "visits.0.at: not a time of day: write it as 13:00"
    ),
    (
      #"{"name":"p","about":"","visits":[{"days":"all","at":"12:00","spread":"0","probability":1}]}"#,
      "visits.0.spread: the value has the wrong type"
    ),
    (#"{"name":"p"}"#, "about: the field is missing"), (#"{"name":null,"about":""}"#, "name: null is not allowed"),
    ("[]", "the value has the wrong type"), ("", "the file is not valid JSON"),
  ])
  func `The error for an invalid file names the file, the field and the problem`(
    _ text: String, _ reason: String
  ) throws {
    let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
    let personas = folder.appending(path: "Personas")
    try FileManager.default.createDirectory(at: personas, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(text.utf8).write(to: personas.appending(path: "broken.json"))
    #expect {
      try Catalogue(folder: folder)
    } throws: { error in
      "\(error)".hasPrefix("broken.json: \(reason)")
    }
  }

  @Test func `A folder replaces the shipped files of its kind`() throws {
    let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
    let newsrooms = folder.appending(path: "Newsrooms")
    try FileManager.default.createDirectory(at: newsrooms, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let text = #"{"name":"mine","about":"","streams":[{"days":"sunday","from":"00:00","to":"24:00","perHour":1}]}"#
    try Data(text.utf8).write(to: newsrooms.appending(path: "mine.json"))
    let catalogue = try Catalogue(folder: folder)
    #expect(catalogue.newsrooms.map(\.name) == ["mine"])
    #expect(catalogue.personas.count == 5)
  }

  @Test func `The report has a line with a bar for each policy, and a line for the hours`() throws {
    let catalogue = try Catalogue.shipped()
    let persona = try #require(catalogue.personas.first { $0.name == "one-pm-reader" })
    let outcomes = (UInt64(1)...2).flatMap { seed in
      Simulation(persona: persona, newsroom: catalogue.newsrooms[1], days: 7, seed: seed).run(catalogue.policies)
    }
    let text = Report(outcomes, in: .gmt).description
    let lines = text.split(separator: "\n")
    #expect(lines.first == "one-pm-reader, hourly-bulletin, 7 days")
    for policy in catalogue.policies { #expect(lines.count { $0.hasPrefix(policy.name + " ") } == 2) }
    #expect(lines.count { $0.contains("█") } >= 5)
    let openings = try #require(lines.first { $0.hasPrefix("openings") })
    #expect(openings.contains("█") && openings.hasSuffix("··········"))
    #expect(lines.allSatisfy { $0.count <= 100 })
  }
}
