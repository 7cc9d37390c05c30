import ArgumentParser
import FetchSimulator
import Foundation

struct SimulateWeek: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "week",
    abstract: "Compares the schedule with fixed intervals, over simulated days of invented readers and newsrooms.",
    discussion: """
      A hit is an opening that finds all news on the device. All policies wake as often as the schedule does. Readers, \
      newsrooms and policies are JSON files; a folder with Personas, Newsrooms or Policies replaces the shipped ones.
      """)

  @Option(help: "The names of the readers, separated by commas; without them, all.")
  var personas: NameList?

  @Option(help: "The names of the newsrooms, separated by commas; without them, all.")
  var newsrooms: NameList?

  @Option(help: "The number of days, 1...366. The first begins without learned habits.")
  var days = 7

  @Option(help: "The seed of the random numbers.")
  var seed: UInt64 = 1

  @Option(help: "The folder with other readers, newsrooms and policies.")
  var catalogue: String?

  func validate() throws {
    guard 1...366 ~= days else { throw ValidationError("The value of '--days' must be from 1 to 366") }
  }

  func run() async throws {
    let catalogue = try catalogue.map { try Catalogue(folder: URL(filePath: $0)) } ?? Catalogue.shipped()
    let readers = try chosen(catalogue.personas, personas, "personas", \.name)
    let sources = try chosen(catalogue.newsrooms, newsrooms, "newsrooms", \.name)
    for reader in readers {
      for source in sources {
        let outcomes = Simulation(persona: reader, newsroom: source, days: days, seed: seed).run(catalogue.policies)
        try Output.print("\(Report(outcomes, in: .gmt))")
      }
    }
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

  init(argument: String) { names = argument.split(separator: ",").map(String.init) }
}
