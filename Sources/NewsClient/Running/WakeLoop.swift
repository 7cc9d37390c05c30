import BackgroundFetch
import Foundation

/// The in-process system: wakes the clients of an app by their schedules, until the task is cancelled.
///
/// It sleeps until the next wake of any client. Between wakes it runs only after a commit to one of the stores, after a
/// change of the network if a wake waits for one, and after ``maximumSleep``.
struct WakeLoop: Sendable {
  /// The maximum time between two decisions in seconds, because the time of day may be set meanwhile.
  static let maximumSleep = 900.0
  /// The minimum time between two wakes of a client in seconds, if the first one has changed nothing. Another process may be
  /// fetching, or the disk may be full.
  static let minimumPause = 60.0

  private let clients: [NewsFetcher]
  private let clock: any FetchClock
  private let onReport: @Sendable (_ client: Int, NewsFetcher.Handled) -> Void
  private let changes: [StoreChanges]

  /// Creates a loop.
  ///
  /// - Parameters:
  ///   - clients: The clients, at least one. They share a clock.
  ///   - onReport: Receives the outcome of each fetch and the index of its client.
  init(_ clients: [NewsFetcher], onReport: @escaping @Sendable (_ client: Int, NewsFetcher.Handled) -> Void) {
    (self.clients, self.onReport, clock) = (clients, onReport, clients[0].clock)
    changes = clients.map { StoreChanges($0.store) }
  }

  /// Runs until the task is cancelled or all applications have ended.
  func run() async {
    // The uptimes before which no client is woken again.
    var pauses = [Double](repeating: 0, count: clients.count)
    while !Task.isCancelled, !clients.allSatisfy(\.application.isTerminated) {
      let now = clock.now
      let plan = WakePlan(
        decisions: clients.indices.map { index in
          pauses[index] > now.uptime ? nil : decision(of: clients[index])
        }, now: now.date)
      if plan.isDue {
        await wake(plan.clients)
        for index in plan.clients { pauses[index] = clock.now.uptime + Self.minimumPause }
      } else {
        let pause = pauses.filter { $0 > now.uptime }.min().map { $0 - now.uptime }
        await sleep(min(max(plan.seconds, 1), pause ?? .infinity, Self.maximumSleep))
      }
    }
  }

  /// Returns the decision of a client; nil if its store cannot be used at the moment.
  private func decision(of client: NewsFetcher) -> FetchDecision? {
    if client.application.isTerminated { return nil }
    client.store.restore()
    do { return try client.decision() } catch {
      client.log("cannot read the schedule: \(error)")
      return nil
    }
  }

  /// Fetches with several clients at once, so that they share a wake. Suspended applications are suspended again.
  private func wake(_ indices: [Int]) async {
    await withTaskGroup { group in
      for index in indices {
        let client = clients[index]
        group.addTask {
          onReport(index, await client.application.whileAwake { await client.fetch(.scheduled) })
        }
      }
    }
  }

  /// Waits for the end of a time in seconds, a commit, or the return of the network.
  private func sleep(_ seconds: Double) async {
    await withTaskGroup { group in
      for change in changes {
        group.addTask { await change.wait(upTo: seconds, clock: clock) }
      }
      for client in clients where (try? client.schedule.awaitsNetwork) == true {
        group.addTask { await Self.waitForNetwork(client, upTo: seconds) }
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// Waits until the network is back, and records that.
  private static func waitForNetwork(_ client: NewsFetcher, upTo seconds: Double) async {
    for await _ in client.configuration.constraints.networkChanges {
      do {
        if try client.networkChanged() { return }
      } catch {
        client.log("cannot store that the network is back: \(error)")
      }
    }
    // There are no further changes to wait for.
    try? await client.clock.sleep(for: .seconds(seconds))
  }
}

/// The next common wake of several clients.
struct WakePlan: Equatable {
  /// The indices of the clients to wake, if the wake is due.
  private(set) var clients: [Int] = []
  /// The seconds until the next decision.
  private(set) var seconds = Double.infinity

  /// Whether the wake is due now.
  var isDue: Bool { !clients.isEmpty }

  /// Creates a plan.
  ///
  /// A client whose wake is due soon shares the wake of another one, unless something forbids an earlier wake, such as its
  /// minimum interval.
  ///
  /// - Parameter decisions: The decision of each client; nil if it cannot be woken.
  init(decisions: [FetchDecision?], now: Date) {
    var joining: [Int] = []
    for (index, decision) in decisions.enumerated() {
      switch decision {
      case .wake: clients.append(index)
      case .wait(let until, let reason):
        let wait = until.timeIntervalSince(now)
        seconds = min(seconds, wait)
        if wait <= FetchSource.coalescingInterval.inSeconds, reason.isChoice { joining.append(index) }
      case .never, nil: break
      }
    }
    if isDue { clients = (clients + joining).sorted() }
  }
}
