import Fleet
import News
import Testing

/// Plans of few phones, whose counts can be worked out by hand. An item without a text has `Sizes.item` bytes of JSON.
private enum Small {
  /// A hundred items from before the day, of which all phones know all, and those at the given times.
  static func plan(publishedAt times: [Double] = [], _ phones: [Phone], edges: Int = 1) -> FleetPlan {
    var options = PlanOptions(phones: phones.count)
    options.edges = edges
    let before = (1...100).map { Publication(time: Double($0) - 1000, topics: ["city"], textBytes: 0) }
    let day = times.map { Publication(time: $0, topics: ["city"], textBytes: 0) }
    return FleetPlan(publications: before + day, phones: phones, options)
  }

  static func phone(edge: Int = 0, topics: [String] = [], _ actions: [(Double, Action.Kind)]) -> Phone {
    Phone(
      topics: topics, edge: edge, push: .apns, known: 100, actions: actions.map { Action(time: $0.0, kind: $0.1) })
  }

  static func counts(_ plan: FleetPlan, _ change: (inout Network) -> Void = { _ in }) -> FleetCounts {
    var network = Network()
    network.edges = plan.options.edges
    change(&network)
    return FleetModel(plan, network, Sizes()).run(.discrete)
  }
}

@Suite struct `The count of each request` {
  @Test func `A response is fresh until the end of the second after its arrival`() {
    for (second, forwarded) in [(100.9, 1.0), (101.9, 1), (102, 2)] {
      let phones = [Small.phone([(100.0, .wake)]), Small.phone([(second, .wake)])]
      let counts = Small.counts(Small.plan(phones))
      #expect(counts.requests(.edge) == 2)
      #expect(counts.requests(.proxy) == forwarded)
      #expect(counts.notModified.total == 2)
    }
  }

  @Test func `A stale response is sent at once, and refreshed in the background, by the edge and by nginx`() {
    let phones = [100.0, 105, 108, 109].map { Small.phone([($0, .wake)]) }
    let counts = Small.counts(Small.plan(publishedAt: [103], phones))
    // The second phone gets the stale 304 of the edge, to which nginx sends its stale one. The third phone gets that. The
    // fourth one gets the news.
    #expect(counts.notModified.total == 3)
    #expect(counts.count(.edgeHit) == 3)
    #expect(counts.count(.edgeForward) == 3)
    #expect(counts.count(.proxyHit) == 2)
    #expect(counts.requests(.server) == 3)
  }

  @Test func `A request with the token of a push is never answered from before`() {
    let phones = [Small.phone([(100, .wake)]), Small.phone([(103.5, .push(publications: 101))])]
    let counts = Small.counts(Small.plan(publishedAt: [103], phones))
    #expect(counts.notModified.total == 1)
    #expect(counts.count(.apns) == 1)
    #expect(counts.count(.query) == 1)
  }

  @Test func `A phone that has the news of a push sends no request`() {
    let phone = Small.phone([(200, .open), (201, .push(publications: 101))])
    let counts = Small.counts(Small.plan(publishedAt: [103], [phone]))
    #expect(counts.requests(.edge) == 1)
    #expect(counts.count(.apns) == 1)
  }

  @Test func `Two edges ask for the same response, which nginx has`() {
    let phones = [Small.phone(edge: 0, [(100, .wake)]), Small.phone(edge: 1, [(100.5, .wake)])]
    let counts = Small.counts(Small.plan(phones, edges: 2))
    #expect(counts.requests(.proxy) == 2)
    #expect(counts.requests(.server) == 1)
    #expect(counts.count(.proxyHit) == 1)
  }

  @Test func `The bytes of a small day add up`() {
    let sizes = Sizes()
    let phones = [Small.phone([(100, .wake)]), Small.phone([(101, .wake)]), Small.phone([(150, .wake)])]
    let counts = Small.counts(Small.plan(publishedAt: [120], phones))
    let empty = sizes.head + sizes.list
    let news = empty + sizes.item
    let proxied = sizes.proxyHead
    // Two phones get a 304, which comes from a whole empty list. The third one gets an item.
    #expect(counts.bytes(.server) == empty + news)
    #expect(counts.bytes(.proxy) == empty + news + 2 * proxied)
    #expect(counts.bytes(.edge) == 2 * sizes.notModified + news + 3 * proxied)
  }

  @Test func `Each server runs a query for the first two requests of past changes`() {
    let times = stride(from: 200.0, to: 300, by: 20)
    let phones = times.map { Small.phone([($0, .wake)]) }
    let plan = Small.plan(publishedAt: [150], phones)
    #expect(Small.counts(plan) { $0.servers = 1 }.count(.query) == 2)
    #expect(Small.counts(plan) { $0.servers = 2 }.count(.query) == 4)
  }

  @Test func `Requests about devices and long polls pass the caches`() {
    let phone = Small.phone([(100, .renew), (200, .longPoll(seconds: 120)), (400, .install)])
    let counts = Small.counts(Small.plan(publishedAt: [230], [phone]))
    // The long poll ends with the publication, then after 50 s, and at the end of the visit.
    #expect(counts.count(.longPoll) == 3)
    #expect([counts.count(.renew), counts.count(.report), counts.count(.register)] == [1, 2, 1])
    // Two for the renewal, three long polls, and four for the installation.
    #expect(counts.requests(.edge) == 9)
    #expect(counts.requests(.server) == 9)
    #expect(counts.held.total == 120)
  }

  @Test func `An event stream is followed by a request for each publication`() {
    let phone = Small.phone([(200, .events(seconds: 100))])
    let counts = Small.counts(Small.plan(publishedAt: [230, 260], [phone]))
    #expect(counts.count(.stream) == 1)
    #expect(counts.requests(.edge) == 3)
    #expect(counts.notModified.total == 0)
  }
}

@Suite struct `The two ways to count` {
  /// A plan that both ways can count.
  private static let shared = Result {
    var options = PlanOptions(phones: 4000, seed: 2)
    (options.users, options.edges) = (12, 4)
    return try FleetPlan(options)
  }

  private func counts(_ method: FleetModel.Method, _ sharedMaxAge: Int = 1, servers: Int = 2) throws -> FleetCounts {
    var network = Network()
    (network.edges, network.servers) = (4, servers)
    (network.changes, network.items) = (.init(sharedMaxAge: sharedMaxAge), .init(sharedMaxAge: sharedMaxAge))
    return FleetModel(try Self.shared.get(), network, Sizes()).run(method)
  }

  @Test(arguments: [1, 5, 30])
  func `Agree within a few per cent`(_ sharedMaxAge: Int) throws {
    let (discrete, expected) = (try counts(.discrete, sharedMaxAge), try counts(.expected, sharedMaxAge))
    func ratio(_ count: (FleetCounts) -> Double) -> Double { count(expected) / count(discrete) }
    #expect(abs(ratio { $0.requests(.edge) } - 1) < 0.01)
    #expect(abs(ratio { $0.bytes(.edge) } - 1) < 0.01)
    #expect(abs(ratio { $0.notModified.total } - 1) < 0.02)
    #expect(abs(ratio { $0.requests(.proxy) } - 1) < 0.05)
    #expect(abs(ratio { $0.requests(.server) } - 1) < 0.05)
    #expect(abs(ratio { $0.count(.edgeHit) } - 1) < 0.05)
    #expect(abs(ratio { $0.bytes(.proxy) } - 1) < 0.05)
    #expect(abs(ratio { $0.bytes(.server) } - 1) < 0.05)
  }

  @Test(arguments: [FleetModel.Method.discrete, .expected])
  func `Never let more requests pass a cache than arrive, and give the same figures again`(
    _ method: FleetModel.Method
  ) throws {
    let counts = try counts(method)
    #expect(try self.counts(method) == counts)
    #expect(counts.requests(.proxy) <= counts.requests(.edge))
    #expect(counts.requests(.server) <= counts.requests(.proxy))
    #expect(counts.requests(.server) > 0)
    let (hours, total) = (counts.requests[.edge]?.hours ?? [], counts.requests(.edge))
    #expect(abs(hours.reduce(0, +) - total) < 1e-6 * total)
    #expect(abs(counts.count(.edgeForward) - counts.requests(.proxy)) < 1e-6 * total)
    #expect(abs(counts.count(.proxyForward) - counts.requests(.server)) < 1e-6 * total)
  }

  @Test(arguments: [FleetModel.Method.discrete, .expected])
  func `Let fewer requests pass with a longer lifetime`(_ method: FleetModel.Method) throws {
    let all = try [1, 2, 5, 10, 60, 600].map { try counts(method, $0) }
    for (shorter, longer) in zip(all, all.dropFirst()) {
      #expect(longer.requests(.proxy) <= shorter.requests(.proxy))
      #expect(longer.requests(.server) <= shorter.requests(.server))
    }
    #expect(all[5].requests(.proxy) < all[0].requests(.proxy))
  }

  @Test func `Count the requests of phones once`() throws {
    var options = PlanOptions(phones: 300, seed: 5)
    (options.users, options.mix.follow) = (4, 0)
    (options.mix.apns, options.mix.fcm, options.mix.webPush) = (0, 0, 0)
    let plan = try FleetPlan(options)
    // Without pushes and connections, each action is one request.
    let actions = Double(plan.phones.reduce(0) { $0 + $1.actions.count })
    for method in [FleetModel.Method.discrete, .expected] {
      let counts = FleetModel(plan, Network(), Sizes()).run(method)
      #expect(abs(counts.requests(.edge) - actions) < 1e-6 * actions)
      #expect(abs(counts.count(.handshake) - actions) < 1e-6 * actions)
    }
  }
}

@Suite struct `A key of the caches` {
  private func network(edges: Int, proxies: Int = 1) -> Network {
    var network = Network()
    (network.edges, network.proxies) = (edges, proxies)
    return network
  }

  @Test(arguments: [0.001, 0.1, 1, 10, 1000], [1, 20])
  func `Is asked again as often as a renewal process says`(_ rate: Double, _ edges: Int) {
    let flow = KeyFlow(rate: rate, network(edges: edges), .init(fresh: 1, stale: 9))
    // The mean time between two requests of an edge: 1.5 s of freshness, and the wait for the next phone.
    let perEdge = 1 / (1.5 + Double(edges) / rate)
    #expect(abs(flow.proxy / (Double(edges) * perEdge) - 1) < 1e-6)
    #expect(flow.server <= flow.proxy * (1 + 1e-9))
    if edges == 1 { #expect(abs(flow.server / flow.proxy - 1) < 1e-6) }
  }

  @Test func `Reaches the servers once in a lifetime at most, however many edges there are`() {
    let flow = KeyFlow(rate: 100_000, network(edges: 100), .init(fresh: 5, stale: 5))
    #expect(abs(flow.proxy - 100 / 5.5) < 0.02)
    #expect(abs(flow.server - 1 / 5.5) < 0.001)
  }
}
