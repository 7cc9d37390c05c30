import Foundation

/// The result of a simulation as text: a table by hour, the totals, the operations, and the machines.
///
///     print(FleetReport(plan, network, FleetBill(counts, prices)))
public struct FleetReport: CustomStringConvertible {
  private let plan: FleetPlan
  private let network: Network
  private let bill: FleetBill

  /// - Parameters:
  ///   - plan: The plan of the day.
  ///   - network: The caches and servers.
  ///   - bill: The counts of the day with their prices.
  public init(_ plan: FleetPlan, _ network: Network, _ bill: FleetBill) {
    (self.plan, self.network, self.bill) = (plan, network, bill)
  }

  /// The title: the phones, the day and the network.
  public var title: String {
    let options = plan.options
    let edges = network.edges == 1 ? "one edge" : "\(network.edges) edges"
    let servers = network.servers == 1 ? "one server" : "\(network.servers) servers"
    let day = options.day == .release ? "a release day" : "a normal day"
    return "\(Figure.whole(Double(options.phones))) phones, \(day), \(edges), \(servers)"
  }

  /// The text.
  public var description: String {
    let heading =
      "Machines of \(Figure.short(bill.cores)) processors, of which the busiest second uses "
      + "\(Figure.short(bill.utilisation * 100)) %"
    let text = [
      title, "", table, "", "Operations, and their processor time in seconds", "", operations, "", heading, "",
      machines,
    ].joined(separator: "\n")
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(Figure.trimmed).joined(separator: "\n")
  }

  private static let tiers: [Tier] = [.edge, .proxy, .server]

  private var table: String {
    let counts = bill.counts
    let widths = [9, 9, 9, 10, 6, 9, 9, 9, 8, 8, 8, 8]
    func line(_ first: String, _ cells: [String]) -> String {
      Figure.left(first, 5) + zip(cells, widths).map { Figure.right($0, $1) }.joined()
    }
    func cells(_ requests: [Double], _ statements: Double, _ bytes: [Double], _ seconds: [Double]) -> [String] {
      let hits = requests[0] > 0 ? Figure.short(100 * (1 - requests[1] / requests[0])) : "-"
      return requests.map(Figure.short) + [Figure.short(statements), hits] + bytes.map { Figure.short($0 / 1e6) }
        + seconds.map(Figure.short)
    }
    let requests = Self.tiers.map { counts.requests[$0]?.hours ?? [] }
    let bytes = Self.tiers.map { counts.bytes[$0]?.hours ?? [] }
    let seconds = Tier.allCases.map { bill.processorSeconds($0, parts: 24) }
    let statements = bill.statementsByHour
    var lines = [
      line("", ["requests", "", "", "", "hits", "MB", "", "", "seconds", "", "", ""]),
      line(
        "hour",
        ["edge", "proxy", "server", "database", "%", "edge", "proxy", "server", "edge", "proxy", "server", "db"]),
    ]
    for hour in 0..<24 {
      let values = cells(
        requests.map { $0[hour] }, statements[hour], bytes.map { $0[hour] }, seconds.map { $0[hour] })
      lines.append(line(hour < 10 ? "0\(hour)" : "\(hour)", values))
    }
    let totals = cells(
      Self.tiers.map { counts.requests($0) }, bill.statements, Self.tiers.map { counts.bytes($0) },
      Tier.allCases.map { bill.processorSeconds($0) })
    lines.append(line("all", totals))
    let peaks = Self.tiers.map { Figure.short(counts.requests[$0]?.peak ?? 0) }
    let busiest = Tier.allCases.map { Figure.short(bill.busiest($0)) }
    lines.append(line("peak", peaks + ["", "", "", "", ""] + busiest))
    lines.append("")
    lines.append("peak: the requests and the processor time of the busiest second")
    lines.append("304s to phones: \(Figure.whole(counts.notModified.total))")
    lines.append("connections held at once: \(Figure.whole(counts.held.peak))")
    return lines.joined(separator: "\n")
  }

  private var operations: String {
    let head =
      Figure.left("", 16) + Figure.right("count", 16)
      + Tier.allCases.map { Figure.right($0.rawValue, 12) }.joined()
    let lines = Operation.allCases.map { operation in
      let count = bill.counts.count(operation)
      let seconds = Tier.allCases.map { tier in
        let seconds = count * bill.prices.seconds(of: operation, at: tier)
        return Figure.right(seconds == 0 ? "" : String(format: "%.1f", seconds), 12)
      }
      return Figure.left(operation.rawValue, 16) + Figure.right(Figure.whole(count), 16) + seconds.joined()
    }
    return ([head] + lines).joined(separator: "\n")
  }

  private var machines: String {
    let head = Figure.left("", 10) + Figure.right("at least", 10) + Figure.right("for the load", 14)
    let lines = Tier.allCases.map { tier in
      Figure.left(tier.rawValue, 10) + Figure.right("\(existing(tier))", 10)
        + Figure.right("\(bill.machines(tier))", 14)
    }
    return ([head] + lines).joined(separator: "\n")
  }

  /// The number of edges, nginx and servers that the options name. Each is a machine, however little it does.
  private func existing(_ tier: Tier) -> Int {
    switch tier {
    case .edge: network.edges
    case .proxy: network.proxies
    case .server: network.servers
    case .database: 1
    }
  }
}
