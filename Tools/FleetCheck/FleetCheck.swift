public import ArgumentParser
import Fleet
import Foundation

/// Plays a plan against real processes, which `scripts/fleet-check` starts.
@main
struct FleetCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet-check",
    abstract: "Plays the phones of a plan against real processes, and compares the counts with the simulation.",
    discussion: """
      scripts/fleet-check starts the processes and passes their addresses. Fails if a count differs by more than 10 %.
      """)

  @OptionGroup var scenario: Scenario
  @OptionGroup var processes: Processes
  @Flag(help: "Check the options, and print the size of the plan only.") var dryRun = false

  func validate() throws {
    if !dryRun { try processes.validateAddresses() }
  }

  func run() async throws {
    let plan = try FleetPlan(scenario.options(edges: max(1, processes.edge.count)))
    let actions = plan.phones.reduce(0) { $0 + $1.actions.count }
    print(
      "\(plan.phones.count) phones with \(actions) actions, and "
        + "\(plan.publications.count - plan.publishedBefore) publications, in \(Int(plan.duration)) s.")
    if dryRun { return }
    let simulated = FleetModel(plan, scenario.network(processes), Sizes()).run()
    let outcome = Outcome(simulated, try await Stage(plan, processes).play())
    print(outcome)
    if !outcome.isSuccess { throw ExitCode.failure }
  }
}

/// The options of the plan.
struct Scenario: ParsableArguments {
  @Option(help: "The number of phones, 1...20000.") var phones = 2000
  @Option(help: "The kind of the day: normal or release.") var day = PlanOptions.Day.normal
  @Option(help: "The seed of all random numbers.") var seed: UInt64 = 1
  @Option(help: "The seconds into which the day is compressed, 10...86400.") var seconds = 600.0
  @Option(help: "The lifetime of responses in the simulation (s-maxage), 1...10. The servers should have the same.")
  var sharedMaxAge = 1

  func validate() throws {
    guard 1...20_000 ~= phones else { throw ValidationError("--phones must be 1...20000.") }
    guard 10...86_400 ~= seconds else { throw ValidationError("--seconds must be 10...86400.") }
    guard 1...10 ~= sharedMaxAge else { throw ValidationError("--shared-max-age must be 1...10.") }
  }

  func options(edges: Int) -> PlanOptions {
    var options = PlanOptions(phones: phones, day: day, seed: seed)
    options.edges = edges
    options.compression = 86_400 / seconds
    return options
  }

  /// The network of the processes.
  func network(_ processes: Processes) -> Network {
    var network = Network()
    network.edges = max(1, processes.edge.count)
    network.servers = max(1, processes.server.count)
    network.changes = .init(sharedMaxAge: sharedMaxAge)
    network.items = network.changes
    return network
  }
}

extension PlanOptions.Day: ExpressibleByArgument {}

/// The addresses of the processes.
struct Processes: ParsableArguments {
  @Option(help: "The address of an edge; several times for several.") var edge: [String] = []
  @Option(help: "The log of an edge, in the order of the edges.") var edgeLog: [String] = []
  @Option(help: "The log of nginx in front of the servers.") var proxyLog = ""
  @Option(help: "The address of a server; several times for several.") var server: [String] = []
  @Option(help: "A key with the scope items:publish.") var key = ""
  @Option(help: "The output of push-mocks, a file.") var mocks = ""
  @Option(help: "The origin of the mock of Web Push.") var pushOrigin = ""

  /// The connection string, from the environment because it may have a password.
  var database: String { ProcessInfo.processInfo.environment["DATABASE_URL"] ?? "" }

  func validateAddresses() throws {
    guard !edge.isEmpty, edge.count == edgeLog.count else {
      throw ValidationError("--edge and --edge-log are needed, each as often as the other.")
    }
    guard !server.isEmpty, !proxyLog.isEmpty, !key.isEmpty, !database.isEmpty else {
      throw ValidationError(
        "--server, --proxy-log, --key and DATABASE_URL are needed; scripts/fleet-check passes them.")
    }
  }
}
