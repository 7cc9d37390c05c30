import Fleet
import Foundation

/// The comparison of a simulation with reality, and what else is known about the run.
struct Outcome: CustomStringConvertible {
  let comparison: Comparison
  private let observation: Observation

  /// The maximum share of requests that may fail.
  private static let maximumErrors = 0.01
  /// The delay of an action from which on the machine is too slow for the number of phones.
  private static let longDelay = Duration.seconds(1)

  init(_ simulated: FleetCounts, _ observation: Observation) {
    self.observation = observation
    let (edges, proxy) = (observation.edges, observation.proxy)
    var comparison = Comparison()
    func add(_ name: String, _ simulated: Double, _ counted: Int, isLimited: Bool = true) {
      comparison.add(name, simulated: simulated, counted: Double(counted), isLimited: isLimited)
    }
    add("requests of phones at the edges", simulated.requests(.edge), edges.requests)
    add("responses 304 to phones", simulated.notModified.total, edges.notModified)
    add("bytes from the edges", simulated.bytes(.edge), edges.bytes)
    add("requests at nginx", simulated.requests(.proxy), edges.upstreamRequests)
    add("bytes from nginx", simulated.bytes(.proxy), edges.upstreamBytes)
    add("requests at the servers", simulated.requests(.server), proxy.upstreamRequests)
    add("bytes from the servers", simulated.bytes(.server), proxy.upstreamBytes)
    add("queries of pages of readers", simulated.count(.query), observation.statements.pages)
    let pushes = simulated.count(.apns) + simulated.count(.fcm) + simulated.count(.webPush)
    add("messages to push services", pushes, observation.messages, isLimited: false)
    self.comparison = comparison
  }

  /// Whether no count differs too much, and the requests of phones were answered.
  var isSuccess: Bool { comparison.failures.isEmpty && !hasErrors }

  private var hasErrors: Bool { Double(errors) > Self.maximumErrors * Double(observation.traffic.requests) }

  /// The requests of phones without a usable response.
  private var errors: Int {
    observation.traffic.errors.values.reduce(0, +)
      + observation.traffic.statuses.filter { $0.key >= 400 }.values.reduce(0, +)
  }

  var description: String {
    var lines = ["\(comparison)", ""]
    let statuses = observation.traffic.statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
    lines.append(
      "The phones sent \(observation.traffic.requests) requests and received \(statuses.joined(separator: ", ")); "
        + "they gave up \(observation.traffic.cancelled) long polls and streams.")
    let caches = observation.edges.caches.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    lines.append("At the edges: \(caches.joined(separator: ", ")).")
    lines.append(
      "The servers counted \(observation.served) requests. "
        + "PostgreSQL executed \(observation.statements.all) statements: "
        + "\(observation.statements.pages) of pages, \(observation.statements.contents) of contents, "
        + "\(observation.statements.others) of writes, pushes and upkeep.")
    if errors > 0 {
      lines.append(
        "\(errors) requests failed: \(observation.traffic.errors.keys.sorted().prefix(3).joined(separator: "; ")).")
    }
    if observation.delay > Self.longDelay {
      let seconds = String(format: "%.1f", observation.delay / .seconds(1))
      lines.append(
        "One action in a hundred was late by \(seconds) s or more: this machine is too slow for so many phones.")
    }
    lines += comparison.failures.map {
      "\($0.name): the deviation is above \(Int(Comparison.maximumDeviation * 100)) %."
    }
    if hasErrors { lines.append("Too many requests failed.") }
    return lines.joined(separator: "\n")
  }
}
