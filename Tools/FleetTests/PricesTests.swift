import Fleet
import Testing

@Suite struct `The prices of operations` {
  private static let fleet = """
    Processor time of an operation in microseconds

    operation             nginx     server PostgreSQL statements
    upkeep                  0.0    20000.0    19000.0      99.00
    handshake             311.3        0.0        6.7       0.00
    hit                    10.9        0.0        0.0       0.00
    forward                93.5       69.7        0.9       0.00
    read                    0.0       10.2        0.0       0.00
    query                   0.0      484.1      292.3       1.15
    long-poll               0.0      144.5        5.9       0.00
    stream                  0.0      148.5        5.9       0.01
    register                0.0      446.9      376.4       7.06
    renew                   0.0      438.4      389.6       8.05
    report                  1.1      225.9      189.1       1.03
    publication             0.0      670.3     2052.7      15.38
    advance                 0.0      321.8     2032.1      14.88

    size not-modified        317
    size head                359
    size compressed-head      30
    size page-head           143
    size proxy-head           46
    size list                 54
    size compressed-2k      1070
    size compressed-100k   45924
    size device              385
    size report              203
    size offer               400
    size event               150
    size item                217
    """
  private static let delivery = """
    apns: 7455 messages/s, bare 9124, h2load 25662, ratio     0.82  (target: 0.7)
    apns: processor time bare 143 us, ours 121 us, ratio      1.15
    apns: processor time of PostgreSQL for a message         55 us
    fcm: processor time bare 142 us, ours 124 us, ratio       1.11
    fcm: processor time of PostgreSQL for a message          56 us
    webpush: processor time bare 344 us, ours 212 us, ratio   1.60  (target: 0.7)
    webpush: processor time of PostgreSQL for a message      64 us
    """

  @Test func `Are read from the outputs of the benchmarks`() throws {
    let prices = try Prices(fleet: Self.fleet, delivery: Self.delivery)
    #expect(prices.seconds(of: .edgeHit, at: .edge) == 10.9 / 1e6)
    #expect(prices.seconds(of: .proxyForward, at: .proxy) == 93.5 / 1e6)
    #expect(prices.seconds(of: .query, at: .database) == 292.3 / 1e6)
    #expect(prices.seconds(of: .fcm, at: .server) == 124 / 1e6)
    #expect(prices.seconds(of: .webPush, at: .database) == 64 / 1e6)
    #expect(prices.seconds(of: .upkeep, at: .database) == 0.0095)
    #expect(prices.seconds(of: .read, at: .edge) == 0)
    #expect(prices.statements(of: .renew) == 8.05)
    #expect(prices.sizes.compressed100k == 45_924)
  }

  @Test func `Are part of the program, for each operation`() throws {
    let prices = try Prices.recorded()
    for operation in Operation.allCases {
      #expect(Tier.allCases.contains { prices.seconds(of: operation, at: $0) > 0 }, "\(operation)")
    }
  }

  @Test(arguments: [
    (
      "query                   0.0      484.1      292.3       1.15\n", "",
      "the line of the operation 'query' is missing"
    ),
    ("size head                359\n", "", "the line of the size 'head' is missing"),
    ("484.1", "fast", "line 9: an operation has a name and four numbers, 0 or more"),
    ("484.1", "-1", "line 9: an operation has a name and four numbers, 0 or more"),
    ("size list                 54", "size list", "line 23: a size has a name and a number of bytes above 0"),
  ])
  func `Are refused with the line or the missing figure`(_ text: String, _ other: String, _ reason: String) {
    #expect {
      try Prices(fleet: Self.fleet.replacing(text, with: other), delivery: Self.delivery)
    } throws: {
      "\($0)" == "bench-fleet.txt: \(reason)" || "\($0)" == "bench-fleet.txt, \(reason)"
    }
  }

  @Test(arguments: [
    ("fcm: processor time bare 142 us, ours 124 us", "", "the line 'fcm: processor time bare …' is missing"),
    ("ours 124 us", "ours - us", "the line 'fcm: processor time bare …' has no number of microseconds after 'ours'"),
  ])
  func `Are refused without the messages to a push service`(_ text: String, _ other: String, _ reason: String) {
    #expect {
      try Prices(fleet: Self.fleet, delivery: Self.delivery.replacing(text, with: other))
    } throws: {
      "\($0)" == "bench-delivery.txt: \(reason)"
    }
  }

  @Test func `Are multiplied by the counts`() throws {
    var prices = try Prices(fleet: Self.fleet, delivery: Self.delivery)
    var options = PlanOptions(phones: 50)
    options.users = 2
    let counts = FleetModel(try FleetPlan(options), Network(), prices.sizes).run()
    let before = FleetBill(counts, prices)
    let hits = counts.count(.edgeHit)
    #expect(hits > 0)
    prices.set(.edgeHit, at: .edge, microseconds: 110.9)
    let after = FleetBill(counts, prices)
    #expect(abs(after.processorSeconds(.edge) - before.processorSeconds(.edge) - hits * 1e-4) < 1e-9)
    #expect(after.processorSeconds(.server) == before.processorSeconds(.server))
    #expect(after.machines(.edge) >= 1)
  }
}
