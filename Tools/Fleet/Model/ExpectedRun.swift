import Foundation
import News

/// The count of a plan whose phones stand for many: the expected number of requests that pass a cache.
///
/// The phones that a phone of the sample stands for do the same some minutes earlier or later: within the lead times of the
/// schedule, within a quarter of an hour around an opening, or while a push is sent. So each key has a rate of requests.
struct ExpectedRun {
  private(set) var counts: FleetCounts
  private let model: FleetModel
  /// The changes of the rate of requests of each key.
  private var rates: [ReadKey: [RateStep]] = [:]
  private var serverReads: [ServerMemory.Key: (time: Double, requests: Double)] = [:]

  /// A change of a rate, in requests per second.
  struct RateStep {
    var time: Double
    var change: Double
  }

  init(_ model: FleetModel, _ counts: FleetCounts) {
    (self.model, self.counts) = (model, counts)
  }

  mutating func run() {
    for phone in model.plan.phones { addPhone(phone) }
    // In a fixed order, so that sums are the same in each run.
    for (key, steps) in rates.sorted(by: { $0.key < $1.key }) { pass(key, steps) }
    for (_, read) in serverReads.sorted(by: { $0.key < $1.key }) {
      let queries = ServerMemory.expectedQueries(read.requests, servers: model.network.servers)
      counts.add(.query, queries, .init(read.time))
      counts.add(.read, -queries, .init(read.time))
    }
  }

  /// Adds the requests of a phone, whose responses are those of the server.
  private mutating func addPhone(_ phone: Phone) {
    let scope = model.scope(of: phone)
    let history = model.histories[scope]
    var token = history.token(after: phone.known)
    for action in phone.actions {
      let spread = spread(of: action)
      if action.opensConnection { counts.add(.handshake, phone.weight, spread) }
      if case .push = action.kind, let push = phone.push { model.addMessage(push, phone.weight, spread, to: &counts) }
      for (time, step) in action.steps(hasPush: phone.push != nil, history, published: model.published) {
        let moved = FleetCounts.Span(spread.start + time - action.time, spread.end + time - action.time)
        switch step {
        case .fetch(let publications):
          let at = publications.map { history.token(after: $0) }
          if let at, at <= token { continue }
          let latest = max(history.token(at: time), at ?? 0)
          addRead(ReadKey(scope: scope, since: token, at: at), latest, phone.weight, moved)
          token = latest
        case .page:
          token = history.token(at: time)
          addRead(ReadKey(scope: scope), token, phone.weight, moved)
        case .uncached(let operation): model.addUncached(operation, phone.weight, moved, to: &counts)
        case .longPoll(let seconds):
          token = model.addLongPolls(seconds, at: time, scope, token: token, phone.weight, to: &counts)
        case .stream(let seconds): model.addStream(seconds, at: time, scope, phone.weight, to: &counts)
        }
      }
    }
  }

  /// Returns the time over which the phones that a phone stands for do the same.
  private func spread(of action: Action) -> FleetCounts.Span {
    let options = model.plan.options
    let scale = 1 / options.compression
    var span: FleetCounts.Span
    switch action.kind {
    case .wake:
      let quarter = (action.time / scale / 900).rounded(.up) * 900
      let half = PhoneDay.wakeSpread / 2 * scale
      span = .init(action.time - half, action.time + half)
      if 180...480 ~= quarter - action.time / scale { span = .init((quarter - 480) * scale, (quarter - 180) * scale) }
    case .push:
      let sending =
        Double(options.phones) * (options.mix.apns + options.mix.fcm + options.mix.webPush) / options.pushRate
      let half = max(0.01, sending / 10) * scale
      span = .init(action.time - half, action.time + half)
    default:
      let half = PhoneDay.openingSpread / 2 * scale
      span = .init(action.time - half, action.time + half)
    }
    return .init(max(0, span.start), min(model.plan.duration, span.end))
  }

  /// Adds a read of phones. Its bytes do not depend on the caches.
  private mutating func addRead(_ key: ReadKey, _ token: Int, _ amount: Double, _ span: FleetCounts.Span) {
    let isNotModified = key.since == token
    let size = isNotModified ? model.sizes.notModified : model.size(of: key, at: token)
    let bytes = size + model.sizes.proxyHead
    counts.add(.edge, requests: amount, bytes: amount * bytes, span)
    if isNotModified { counts.addNotModified(amount, span) }
    let rate = amount / (span.end - span.start)
    rates[key, default: []].append(RateStep(time: span.start, change: rate))
    rates[key, default: []].append(RateStep(time: span.end, change: -rate))
  }

  /// Adds the requests for a key that pass the caches.
  private mutating func pass(_ key: ReadKey, _ steps: [RateStep]) {
    let history = model.histories[key.scope]
    var flow = CacheFlow(model.network, model.lifetime(of: key))
    var rate = 0.0
    var period = Period(model.network)
    var token = -1
    let sorted = steps.sorted { $0.time < $1.time }
    for (index, step) in sorted.enumerated() {
      rate += step.change
      guard index + 1 < sorted.count else { break }
      var now = step.time
      let end = sorted[index + 1].time
      while now < end {
        let current = max(history.token(at: now), key.since ?? 0, key.at ?? 0)
        if current != token {
          finish(period, key, token)
          (period, token) = (Period(model.network), current)
        }
        let next = min(end, history.next(after: now) ?? end)
        flow.advance(from: now, to: next, rate: max(0, rate)) { flow in
          period.add(flow)
          add(flow)
        }
        now = next
      }
    }
    flow.finish { flow in
      period.add(flow)
      add(flow)
    }
    finish(period, key, token)
  }

  /// Adds requests that pass the edges, and those of them that pass nginx. Their responses are 304s at first.
  private mutating func add(_ flow: CacheFlow.Flow) {
    let span = flow.span
    // A request that finds a stale response is answered from the cache, too.
    counts.add(.edgeHit, flow.requests - flow.edge.requests + flow.edge.stale, span)
    counts.add(.edgeForward, flow.edge.requests, span)
    let size = model.sizes.notModified
    counts.add(
      .proxy, requests: flow.edge.requests, bytes: flow.edge.requests * (size + model.sizes.proxyHead), span)
    counts.add(.proxyHit, flow.edge.requests - flow.proxy.requests + flow.proxy.stale, span)
    counts.add(.proxyForward, flow.proxy.requests, span)
    counts.add(.server, requests: flow.proxy.requests, bytes: flow.proxy.requests * size, span)
    counts.add(.read, flow.proxy.requests, span)
  }

  /// Adds the whole responses of a period without publications: a cache receives one with its first request, and with those
  /// after it has forgotten the response.
  private mutating func finish(_ period: Period, _ key: ReadKey, _ token: Int) {
    guard let span = period.span else { return }
    let whole = model.size(of: key, at: token) - model.sizes.notModified
    counts.add(.proxy, bytes: period.edge.whole * whole, span)
    counts.add(.server, bytes: period.proxy.whole * whole, span)
    if let read = ServerMemory.Key(key, at: token) {
      let sum = (serverReads[read]?.requests ?? 0) + period.proxy.passed
      serverReads[read] = (serverReads[read]?.time ?? span.start, sum)
    }
  }
}

/// The requests for a key in a period without publications.
private struct Period {
  /// The requests that the edges, or nginx, pass on.
  struct Tally {
    let caches: Double
    let inactive: Double
    var passed = 0.0
    /// Those whose response is a whole list.
    var whole = 0.0
    /// The requests so far, with the times until which they are counted.
    private var earlier: [(time: Double, passed: Double)] = []
    private var next = 0
    private var forgettable = 0.0

    init(caches: Int, inactive: Double) {
      (self.caches, self.inactive) = (Double(caches), inactive)
    }

    /// A request is the first one of its cache with a probability that falls with their number. If it is not the first one,
    /// the cache may have forgotten the response to the others, which were then long ago.
    mutating func add(_ part: CacheFlow.Passed, _ span: FleetCounts.Span) {
      while next < earlier.count, earlier[next].time <= span.start - inactive {
        forgettable = earlier[next].passed
        next += 1
      }
      whole += caches * exp(-passed / caches) * -expm1(-part.requests / caches)
      whole += part.forgotten * -expm1(-forgettable / caches)
      passed += part.requests
      earlier.append((span.end, passed))
    }
  }

  var edge: Tally
  var proxy: Tally
  var span: FleetCounts.Span?

  init(_ network: Network) {
    edge = Tally(caches: network.edges, inactive: network.inactive)
    proxy = Tally(caches: network.proxies, inactive: network.inactive)
  }

  mutating func add(_ flow: CacheFlow.Flow) {
    edge.add(flow.edge, flow.span)
    proxy.add(flow.proxy, flow.span)
    span = FleetCounts.Span(span?.start ?? flow.span.start, flow.span.end)
  }
}
