import Fleet
import Foundation
import Testing

@Suite struct `The report of a day` {
  /// A small day with its prices.
  private static let shared = Result {
    var options = PlanOptions(phones: 300, seed: 8)
    options.users = 4
    let plan = try FleetPlan(options)
    let prices = try Prices.recorded()
    return (plan, FleetBill(FleetModel(plan, Network(), prices.sizes).run(), prices))
  }

  @Test func `Has a line for each hour, whose requests add up to the total`() throws {
    let (plan, bill) = try Self.shared.get()
    let lines = FleetReport(plan, Network(), bill).description.split(separator: "\n")
    #expect(lines.first == "300 phones, a normal day, one edge, 2 servers")
    let hours = lines.filter { $0.wholeMatch(of: /[0-2][0-9]   .*/) != nil }
    #expect(hours.count == 24)
    let requests = hours.compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Double($0) } }
    #expect(requests.reduce(0, +) == bill.counts.requests(.edge))
    let total = try #require(lines.first { $0.hasPrefix("all ") })
    #expect(total.contains(" \(Int(bill.counts.requests(.proxy))) ") || total.contains(" k "))
  }

  @Test func `Lists the operations and the machines`() throws {
    let (plan, bill) = try Self.shared.get()
    var network = Network()
    network.servers = 3
    let text = FleetReport(plan, network, bill).description
    for operation in Operation.allCases { #expect(text.contains("\n\(operation.rawValue) ")) }
    #expect(text.contains(/\nserver +3 +[0-9]+\n/))
    #expect(text.contains(/\ndatabase +1 +[0-9]+$/))
  }

  @Test func `Needs more machines if a machine is smaller or less used`() throws {
    var bill = try Self.shared.get().1
    (bill.cores, bill.utilisation) = (1, 1)
    let few = Tier.allCases.map(bill.machines)
    (bill.cores, bill.utilisation) = (1, 0.001)
    let many = Tier.allCases.map(bill.machines)
    #expect(zip(few, many).allSatisfy { $0 < $1 })
    #expect(bill.machines(.edge) == Int((bill.busiest(.edge) / 0.001).rounded(.up)))
  }

  @Test func `Is drawn as a chart with a line for each tier`() throws {
    let (_, bill) = try Self.shared.get()
    let svg = FleetChart(title: "A <small> day & night", bill).svg
    #expect(svg.contains("A &lt;small> day &amp; night"))
    #expect(svg.contains("prefers-color-scheme: dark"))
    let lines = svg.matches(of: /<polyline class="line (\w+)" points="([^"]*)"/)
    #expect(lines.map { String($0.output.1) } == ["edge", "proxy", "server", "edge", "proxy", "server", "database"])
    for line in lines {
      let points = line.output.2.split(separator: " ").map { $0.split(separator: ",").compactMap { Double($0) } }
      #expect(points.count == 288)
      #expect(points.allSatisfy { 64...764 ~= $0[0] && 96...526 ~= $0[1] })
    }
  }
}
