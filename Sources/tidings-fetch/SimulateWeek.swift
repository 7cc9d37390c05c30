import ArgumentParser
import FetchSimulator
import Foundation
import News
import NewsClient

struct SimulateWeek: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "week",
    abstract: "Compares the schedule with fixed intervals, over simulated days of invented readers and newsrooms.",
    discussion: """
      A hit is an opening that finds all news on the device. All policies wake as often as the schedule does. Readers, \
      newsrooms and policies are JSON files; a folder with Personas, Newsrooms or Policies replaces the shipped ones. With \
      --mine or --log the reader is a real one, whose last days are drawn as a chart.
      """)

  @ParentCommand var parent: TidingsFetch

  @Option(help: "The names of the readers, separated by commas; without them, all.")
  var personas: NameList?

  @Option(help: "The names of the newsrooms, separated by commas; without them, all.")
  var newsrooms: NameList?

  @Option(help: "The number of days, 1...366; those of the log, or else 7. The first begins without learned habits.")
  var days: Int?

  @Flag(help: "Simulates your own openings and the stored items. Without a newsroom, the items are those of the store.")
  var mine = false

  @Option(help: "The file of a reader's openings, as log --openings --json prints them; - for standard input.")
  var log: String?

  @Option(help: "The seed of the random numbers.")
  var seed: UInt64 = 1

  @Option(help: "The folder with other readers, newsrooms and policies.")
  var catalogue: String?

  func validate() throws {
    guard !mine || log == nil else { throw ValidationError("Use either '--mine' or '--log'") }
    guard !(mine || log != nil) || personas == nil else {
      throw ValidationError("'--personas' cannot be used with '--mine' or '--log'")
    }
    guard 1...366 ~= days ?? 7 else { throw ValidationError("The value of '--days' must be from 1 to 366") }
  }

  func run() async throws {
    let catalogue = try catalogue.map { try Catalogue(folder: URL(filePath: $0)) } ?? Catalogue.shipped()
    if mine || log != nil { return try simulateLog(catalogue) }
    let readers = try chosen(catalogue.personas, personas, "personas", \.name)
    let sources = try chosen(catalogue.newsrooms, newsrooms, "newsrooms", \.name)
    for reader in readers {
      for source in sources {
        let outcomes = Simulation(persona: reader, newsroom: source, days: days ?? 7, seed: seed)
          .run(catalogue.policies)
        try Output.print("\(Report(outcomes, in: .gmt))")
      }
    }
  }

  /// Simulates a reader whose openings are known.
  private func simulateLog(_ catalogue: Catalogue) throws {
    let zone = TimeZone.current
    let openings = try recordedOpenings()
    guard let first = openings.first, let last = openings.last else {
      throw Refusal("there are no openings yet: the command open records them")
    }
    let reader = Persona(name: mine ? "me" : "log", about: "Recorded openings.", openings: openings)
    let recorded = Int((last.timeIntervalSince(first) / 86_400).rounded(.up)) + 1
    let span = min(days ?? recorded, 366)
    // The last days show what the schedule has learned.
    let start = max(first, last - Double(span - 1) * 86_400)
    let newsrooms =
      try self.newsrooms == nil ? [storedItems()] : chosen(catalogue.newsrooms, newsrooms, "newsrooms", \.name)
    for newsroom in newsrooms {
      let simulation = Simulation(
        persona: reader, newsroom: newsroom, days: span, seed: seed, start: start, zone: zone)
      let outcomes = simulation.run(catalogue.policies)
      try Output.print("\(Report(outcomes, in: zone))")
      if let outcome = outcomes.first { try Output.print("\(WeekChart(outcome, in: zone))") }
    }
  }

  private func recordedOpenings() throws -> [Date] {
    guard let log else { return try parent.client().openings().reversed() }
    let data = log == "-" ? try readInput(maximumBytes: 1 << 24) : try? Data(contentsOf: URL(filePath: log))
    guard let data else { throw ValidationError("The file '\(log)' cannot be read") }
    do { return try OpeningLog(String(decoding: data, as: UTF8.self)).openings } catch let error as OpeningLog.ReadError
    {
      throw ValidationError("The file '\(log)': \(error)")
    }
  }

  /// Returns a newsroom that has published the stored items.
  private func storedItems() throws -> Newsroom {
    let dates = try parent.client().items().map(\.date)
    return Newsroom(name: "stored items", about: "The items of the store.", published: dates)
  }

  private func chosen<Value>(
    _ all: [Value], _ names: NameList?, _ option: String, _ name: (Value) -> String
  ) throws -> [Value] {
    guard let names else { return all }
    return try names.names.map { wanted in
      guard let value = all.first(where: { name($0) == wanted }) else {
        let known = all.map(name).joined(separator: ", ")
        throw ValidationError("The value of '--\(option)' has '\(wanted)'; the known names are \(known)")
      }
      return value
    }
  }
}

/// A list of names, separated by commas.
struct NameList: ExpressibleByArgument {
  let names: [String]

  init(argument: String) { names = argument.commaSeparated }
}
