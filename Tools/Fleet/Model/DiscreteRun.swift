import Foundation

/// The count of a plan whose phones stand for themselves: each request is followed through the caches in order of time.
struct DiscreteRun {
  private(set) var counts: FleetCounts
  private let model: FleetModel
  private var edges: [Cache]
  private var proxies: [Cache]
  private var memory: ServerMemory
  /// The next proxy that an edge asks. Requests are spread in turn.
  private var turn = 0

  /// The cache of one nginx.
  private struct Cache {
    struct Entry {
      /// The whole second of the arrival.
      var second: Double
      var token: Int
      var used: Double
    }

    /// The response that a cache has for a key, by its age; the values are tokens.
    enum State {
      case fresh(Int)
      case stale(Int)
      case expired(Int)
      case missing

      /// Whether the stored response is sent at once.
      var isHit: Bool {
        switch self {
        case .fresh, .stale: true
        case .expired, .missing: false
        }
      }

      /// Returns the token of the response that is sent.
      ///
      /// - Parameter refresh: Requests another response, with the entity tag of a stored one, and returns its token.
      func token(refresh: (_ stored: Int?) -> Int) -> Int {
        switch self {
        case .fresh(let stored): return stored
        case .stale(let stored):
          _ = refresh(stored)
          return stored
        case .expired(let stored): return refresh(stored)
        case .missing: return refresh(nil)
        }
      }
    }

    var entries: [ReadKey: Entry] = [:]

    mutating func state(of key: ReadKey, at time: Double, _ lifetime: Network.Lifetime, inactive: Double) -> State {
      guard let entry = entries[key], time - entry.used < inactive else { return .missing }
      entries[key]?.used = time
      let age = Int(time.rounded(.down) - entry.second)
      if age <= lifetime.fresh { return .fresh(entry.token) }
      return age <= lifetime.fresh + lifetime.stale ? .stale(entry.token) : .expired(entry.token)
    }

    mutating func store(_ token: Int, _ key: ReadKey, at time: Double) {
      entries[key] = Entry(second: time.rounded(.down), token: token, used: time)
    }
  }

  init(_ model: FleetModel, _ counts: FleetCounts) {
    (self.model, self.counts) = (model, counts)
    edges = [Cache](repeating: Cache(), count: model.network.edges)
    proxies = [Cache](repeating: Cache(), count: model.network.proxies)
    memory = ServerMemory(servers: model.network.servers)
  }

  mutating func run() {
    var steps: [(time: Double, phone: Int, step: PhoneStep)] = []
    for (number, phone) in model.plan.phones.enumerated() {
      let history = model.histories[model.scope(of: phone)]
      for action in phone.actions {
        steps += action.steps(hasPush: phone.push != nil, history, published: model.published).map {
          ($0.time, number, $0.step)
        }
        if action.opensConnection { counts.add(.handshake, 1, .init(action.time)) }
        if case .push = action.kind, let push = phone.push {
          model.addMessage(push, 1, .init(action.time), to: &counts)
        }
      }
    }
    // The steps of a phone at the same time stay in order.
    let order = steps.indices.sorted { (steps[$0].time, $0) < (steps[$1].time, $1) }
    var tokens = model.plan.phones.map { model.histories[model.scope(of: $0)].token(after: $0.known) }
    for index in order {
      let (time, number, step) = steps[index]
      take(step, model.plan.phones[number], &tokens[number], at: time)
    }
  }

  private mutating func take(_ step: PhoneStep, _ phone: Phone, _ token: inout Int, at time: Double) {
    let scope = model.scope(of: phone)
    switch step {
    case .fetch(let publications):
      let at = publications.map { model.histories[scope].token(after: $0) }
      if let at, at <= token { return }
      token = max(token, read(ReadKey(scope: scope, since: token, at: at), phone.edge, at: time))
    case .page:
      token = read(ReadKey(scope: scope), phone.edge, at: time)
    case .uncached(let operation): model.addUncached(operation, 1, .init(time), to: &counts)
    case .longPoll(let seconds):
      token = model.addLongPolls(seconds, at: time, scope, token: token, 1, to: &counts)
    case .stream(let seconds): model.addStream(seconds, at: time, scope, 1, to: &counts)
    }
  }

  /// Sends a read to an edge.
  ///
  /// - Returns: The token of the response.
  private mutating func read(_ key: ReadKey, _ edge: Int, at time: Double) -> Int {
    let edge = edge % edges.count
    let state = edges[edge].state(of: key, at: time, model.lifetime(of: key), inactive: model.network.inactive)
    if state.isHit { counts.add(.edgeHit, 1, .init(time)) }
    let token = state.token { refresh(edge, key, $0, at: time) }
    let isNotModified = key.since == token
    let bytes = isNotModified ? model.sizes.notModified : model.size(of: key, at: token)
    counts.add(.edge, requests: 1, bytes: bytes + model.sizes.proxyHead, .init(time))
    if isNotModified { counts.addNotModified(1, .init(time)) }
    return token
  }

  /// Replaces the entry of an edge.
  private mutating func refresh(_ edge: Int, _ key: ReadKey, _ stored: Int?, at time: Double) -> Int {
    counts.add(.edgeForward, 1, .init(time))
    let token = readProxy(key, stored, at: time)
    edges[edge].store(token, key, at: time)
    return token
  }

  /// Sends a read to nginx in front of the servers.
  ///
  /// - Parameter known: The token whose entity tag the edge sends; nil for none.
  private mutating func readProxy(_ key: ReadKey, _ known: Int?, at time: Double) -> Int {
    turn = (turn + 1) % proxies.count
    let proxy = turn
    let state = proxies[proxy].state(of: key, at: time, model.lifetime(of: key), inactive: model.network.inactive)
    if state.isHit { counts.add(.proxyHit, 1, .init(time)) }
    let token = state.token { refreshProxy(proxy, key, $0, at: time) }
    counts.add(.proxy, requests: 1, bytes: size(key, token, known) + model.sizes.proxyHead, .init(time))
    return token
  }

  private mutating func refreshProxy(_ proxy: Int, _ key: ReadKey, _ stored: Int?, at time: Double) -> Int {
    counts.add(.proxyForward, 1, .init(time))
    let token = model.histories[key.scope].token(at: time)
    counts.add(.server, requests: 1, bytes: size(key, token, stored), .init(time))
    counts.add(memory.read(key, at: token) ? .query : .read, 1, .init(time))
    proxies[proxy].store(token, key, at: time)
    return token
  }

  /// Returns the size of the response to a cache that has a token, or to one without an entry, which gets a whole list.
  private func size(_ key: ReadKey, _ token: Int, _ known: Int?) -> Double {
    known == token ? model.sizes.notModified : model.size(of: key, at: token)
  }
}
