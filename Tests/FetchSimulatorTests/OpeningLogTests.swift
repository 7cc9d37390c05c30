import FetchSimulator
import Foundation
import Testing

@Suite struct `A log of openings` {
  /// The first Monday of June 2026, midnight UTC.
  private static let monday = Date(timeIntervalSince1970: 1_780_272_000)
  private static let day = 86_400.0

  @Test func `Has the openings of its lines, and the fetches for launches, once and in order`() throws {
    let text = """
      {"opened":"2026-06-02T13:00:00Z"}
      {"cpuMilliseconds":20,"reason":"scheduled","result":"noData","started":"2026-06-01T12:00:00Z"}
      {"reason":"launch","result":"newData","started":"2026-06-01T13:00:00.250Z"}
      {"opened":"2026-06-02T13:00:00Z"}

      """
    for text in [text, text.replacing("\n", with: "\r\n")] {
      #expect(
        try OpeningLog(text).openings == [Self.monday + 13 * 3600 + 0.25, Self.monday + Self.day + 13 * 3600])
    }
  }

  @Test(arguments: ["x", "{}", #"{"opened":"yesterday"}"#, #"{"opened":5}"#, "[]"])
  func `Is refused with the number of the line that is none`(line: String) {
    #expect {
      try OpeningLog("{\"opened\":\"2026-06-02T13:00:00Z\"}\n" + line)
    } throws: { error in
      "\(error)" == "line 2 is not a line of tidings-fetch log --json"
    }
  }

  /// The simulation of a reader who has opened the app at 13:00 every day, beside items that appeared at 12:00.
  private func outcomes(days: Int) throws -> [Outcome] {
    let openings = (0..<days).map { Self.monday + Double($0) * Self.day + 13 * 3600 }
    let reader = Persona(name: "me", about: "A log.", openings: openings)
    let newsroom = Newsroom(name: "items", about: "A store.", published: openings.map { $0 - 3600 })
    let simulation = Simulation(
      persona: reader, newsroom: newsroom, days: days, seed: 1, start: Self.monday, zone: .gmt)
    return simulation.run(try Catalogue.shipped().policies)
  }

  @Test func `Is a reader of the simulator, whose habit the schedule learns`() throws {
    let outcome = try #require(try outcomes(days: 14).first)
    #expect(outcome.openings.count == 14)
    #expect(outcome.hits + outcome.misses == 14)
    #expect(outcome.hits >= 11, "\(outcome.hits) of 14")
  }

  @Test func `Is drawn as a chart of the last seven days, with a mark for each half hour`() throws {
    let outcome = try #require(try outcomes(days: 10).first)
    let lines = WeekChart(outcome, in: .gmt).description.split(separator: "\n").map(String.init)
    #expect(lines.count == 9)
    #expect(lines.first == "     00    03    06    09    12    15    18    21")
    #expect(lines.dropFirst().prefix(7).map { $0.prefix(3) } == ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"])
    for line in lines.dropFirst().prefix(7) {
      let marks = Array(line.dropFirst(5))
      #expect(marks.count == 48)
      // The opening is at 13:00, and a wake precedes it by minutes.
      #expect(marks[26] == "●" || marks[26] == "◉", "\(line)")
      #expect(marks.allSatisfy { "·▴●◉".contains($0) })
      #expect(marks.contains("▴"), "\(line)")
    }
  }
}
