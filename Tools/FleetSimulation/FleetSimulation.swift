public import ArgumentParser
public import Fleet
import Foundation

/// Simulates a day of a fleet of phones. `make fleet` runs it.
@main
struct FleetSimulation: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Simulates a day of many phones, and prints what they cost.",
    discussion: """
      The phones fetch, open the app and receive pushes by the client's own schedule. Their requests pass the edges of a CDN, \
      nginx and servers, whose caches keep responses for the times that the server sets. The processor time of each operation \
      was measured by `make bench`. docs/scale.md explains the output.
      """)

  @OptionGroup(title: "Phones") var phones: PhoneArguments
  @OptionGroup(title: "Caches and servers") var deployment: DeploymentArguments
  @OptionGroup(title: "Prices and machines") var costs: CostArguments
  @Option(help: ArgumentHelp("Also write a chart into this file, as SVG.", valueName: "file")) var chart: String?

  @Option(
    help: ArgumentHelp(
      "Print only what one key of the caches costs with a number of requests a second.", valueName: "requests"))
  var key: Double?

  /// Prints only a sentence about a mistake, because the options are those of `make`.
  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      guard exitCode(for: error) != .success else { exit(withError: error) }
      FileHandle.standardError.write(Data("fleet: \(message(for: error))\n".utf8))
      Foundation.exit(exitCode(for: error).rawValue)
    }
  }

  func validate() throws {
    if let key, !(key > 0 && key.isFinite) { throw ValidationError("--key is a number above 0.") }
  }

  func run() throws {
    let network = try deployment.network(edges: phones.edges)
    let prices = try costs.makePrices()
    if let key { return print(KeyReport(KeyFlow(rate: key, network, network.changes), network, prices)) }
    let plan = try plan()
    let counts = FleetModel(plan, network, prices.sizes).run()
    var bill = FleetBill(counts, prices)
    (bill.cores, bill.utilisation) = (costs.cores, costs.utilisation)
    let report = FleetReport(plan, network, bill)
    print(report)
    if let chart {
      do {
        try FleetChart(title: report.title, bill).svg.write(toFile: chart, atomically: true, encoding: .utf8)
      } catch {
        throw ValidationError("--chart: the file \(chart) cannot be written.")
      }
    }
  }

  private func plan() throws -> FleetPlan {
    do {
      return try FleetPlan(try phones.options())
    } catch let error as FleetPlan.OptionError {
      throw ValidationError(error.description)
    }
  }
}

extension PlanOptions.Day: ExpressibleByArgument {}
