import News

/// The counts of a day of a plan: the requests that reach edges, nginx, servers and the database.
///
///     let plan = try FleetPlan(PlanOptions(phones: 10_000))
///     let counts = FleetModel(plan, Network(), Sizes()).run()
///     print(counts.requests(.edge), counts.requests(.server))
///
/// If each phone of the plan stands for itself, every request is followed through the caches. Otherwise the number of
/// requests that pass a cache is the expected one for the rate of requests at each time.
public struct FleetModel {
  /// The ways to count.
  public enum Method: Sendable, Hashable {
    /// Each request is followed through the caches.
    case discrete
    /// The expected numbers are computed from the rates.
    case expected
  }

  let plan: FleetPlan
  let network: Network
  let sizes: Sizes
  /// The publications of each scope.
  let histories: [ScopeHistory]
  /// The numbers of the scopes.
  private let scopes: [[String]: Int]
  private let times: [Double]

  /// - Parameters:
  ///   - plan: The phones and the publications.
  ///   - network: The caches and servers. Its edges should be as many as those of the plan.
  ///   - sizes: The sizes of responses.
  public init(_ plan: FleetPlan, _ network: Network, _ sizes: Sizes) {
    (self.plan, self.network, self.sizes) = (plan, network, sizes)
    times = plan.publications.map(\.time)
    let topics = Set(plan.phones.map(\.topics)).sorted { $0.lexicographicallyPrecedes($1) }
    scopes = Dictionary(uniqueKeysWithValues: topics.enumerated().map { ($1, $0) })
    histories = topics.map { ScopeHistory($0, plan.publications, sizes) }
  }

  /// Counts the day.
  ///
  /// - Parameter method: The way to count; nil for `discrete` where each phone stands for itself.
  public func run(_ method: Method? = nil) -> FleetCounts {
    var counts = FleetCounts(duration: plan.duration)
    addNewsroom(to: &counts)
    switch method ?? (plan.phones.allSatisfy { $0.weight == 1 } ? .discrete : .expected) {
    case .discrete:
      var run = DiscreteRun(self, counts)
      run.run()
      return run.counts
    case .expected:
      var run = ExpectedRun(self, counts)
      run.run()
      return run.counts
    }
  }

  /// Adds what does not depend on the phones: publications, and the upkeep of the servers.
  private func addNewsroom(to counts: inout FleetCounts) {
    for publication in plan.publications[plan.publishedBefore...] {
      let span = FleetCounts.Span(publication.time)
      counts.add(.publication, 1, span)
      counts.add(.advance, Double(network.servers - 1), span)
    }
    counts.add(.upkeep, Double(network.servers) * plan.duration, .init(0, plan.duration))
  }

  /// Returns the number of the scope of a phone.
  func scope(of phone: Phone) -> Int { scopes[phone.topics] ?? 0 }

  /// Returns the number of publications of the newsroom at a time.
  func published(by time: Double) -> Int { times.count(until: time) }

  /// Returns the size of a 200 of a server.
  ///
  /// - Parameter token: The token of the response.
  func size(of key: ReadKey, at token: Int) -> Double {
    let history = histories[key.scope]
    return key.since.map { history.changes(since: $0, to: token) } ?? history.page(at: token)
  }

  func lifetime(of key: ReadKey) -> Network.Lifetime { key.since == nil ? network.items : network.changes }

  /// Adds a request that no cache answers, with the size of the response of the server.
  private func addPassed(_ amount: Double, bytes: Double, _ span: FleetCounts.Span, to counts: inout FleetCounts) {
    counts.add(.edgeForward, amount, span)
    counts.add(.proxyForward, amount, span)
    counts.add(.server, requests: amount, bytes: amount * bytes, span)
    counts.add(.proxy, requests: amount, bytes: amount * (bytes + sizes.proxyHead), span)
    counts.add(.edge, requests: amount, bytes: amount * (bytes + sizes.proxyHead), span)
  }

  /// Adds a request for the push services (`read`), or one about a device.
  func addUncached(_ operation: Operation, _ amount: Double, _ span: FleetCounts.Span, to counts: inout FleetCounts) {
    let bytes =
      switch operation {
      case .read: sizes.offer
      case .report: sizes.report
      default: sizes.device
      }
    addPassed(amount, bytes: bytes, span, to: &counts)
    counts.add(operation, amount, span)
  }

  /// Adds a message to a push service.
  func addMessage(_ provider: PushProvider, _ amount: Double, _ span: FleetCounts.Span, to counts: inout FleetCounts) {
    switch provider {
    case .apns: counts.add(.apns, amount, span)
    case .fcm: counts.add(.fcm, amount, span)
    case .webpush: counts.add(.webPush, amount, span)
    }
  }

  /// Adds an event stream, and the bytes of its events. Their requests for changes are steps of their own.
  func addStream(_ seconds: Double, at time: Double, _ scope: Int, _ amount: Double, to counts: inout FleetCounts) {
    let span = FleetCounts.Span(time, time + seconds)
    let events = histories[scope].token(at: time + seconds) - histories[scope].token(at: time)
    addPassed(amount, bytes: sizes.head + Double(events) * sizes.event, .init(time), to: &counts)
    counts.add(.stream, amount, .init(time))
    counts.hold(amount * seconds, span)
  }

  /// Adds the long polls of a visible app, which pass the caches.
  ///
  /// - Parameter token: The token of the phone.
  /// - Returns: The token at the end.
  func addLongPolls(
    _ seconds: Double, at time: Double, _ scope: Int, token: Int, _ amount: Double, to counts: inout FleetCounts
  ) -> Int {
    let history = histories[scope]
    let end = time + seconds
    var (now, token) = (time, token)
    counts.hold(amount * seconds, .init(time, end))
    while now < end {
      counts.add(.longPoll, amount, .init(now))
      let current = history.token(at: now)
      // The server has news already.
      let answer = current > token ? now : history.next(after: now) ?? .infinity
      let span = FleetCounts.Span(now)
      if answer <= now + network.longPoll, answer < end {
        let latest = history.token(at: answer)
        addPassed(amount, bytes: history.changes(since: token, to: latest), span, to: &counts)
        (now, token) = (answer, latest)
      } else {
        // At the end, the phone closes the connection without a response.
        let isCancelled = now + network.longPoll >= end
        addPassed(amount, bytes: isCancelled ? -sizes.proxyHead : sizes.notModified, span, to: &counts)
        if !isCancelled { counts.addNotModified(amount, span) }
        now += network.longPoll
      }
    }
    return token
  }
}

extension FleetCounts {
  mutating func hold(_ amount: Double, _ span: Span) { held.add(amount, from: span.start, to: span.end) }

  mutating func addNotModified(_ amount: Double, _ span: Span) {
    notModified.add(amount, from: span.start, to: span.end)
  }
}
