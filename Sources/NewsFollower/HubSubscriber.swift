package import Foundation
public import Logging
import News
public import NewsStore
public import OutgoingHTTP

/// Keeps leases at the WebSub hubs of the feeds that the server follows, so that the hubs notify it of changes.
///
/// Any number of processes may do so. A lease in the database ensures that one of them sends a request.
public final class HubSubscriber: Sendable {
  /// The maximum number of requests at a time.
  private static let width = 4
  /// The duration in seconds after which another process may send a request again, longer than its timeout.
  private static let leaseTime: Double = 180
  /// The interval in which the database is read without a signal, which bounds the delay of changes by other processes.
  private static let restTime: Duration = .seconds(60)

  private let store: NewsStore
  private let hubs: HubConnection
  private let callbacks: String?
  private let logger: Logger
  private let clock: @Sendable () -> Date?

  /// Creates a subscriber.
  ///
  /// - Parameters:
  ///   - client: The client, whose shutdown is the caller's.
  ///   - publicURL: The address of the installation without a trailing slash, to which hubs send; nil to end all leases.
  public convenience init(store: NewsStore, client: OutgoingClient, publicURL: String?, logger: Logger) {
    self.init(store: store, client: client, publicURL: publicURL, logger: logger, clock: { nil })
  }

  /// - Parameter clock: The time in place of that of the database; nil for that of the database.
  package init(
    store: NewsStore, client: OutgoingClient, publicURL: String?, logger: Logger, clock: @escaping @Sendable () -> Date?
  ) {
    self.store = store
    hubs = HubConnection(client: client)
    callbacks = publicURL.map { $0 + Subscription.WebSub.callbackPath }
    self.logger = logger
    self.clock = clock
  }

  /// Sends requests as they become due, until the task is cancelled.
  public func run() async {
    var next = ContinuousClock.now
    while !Task.isCancelled {
      if store.hubActivity.takeSignal() || .now >= next {
        // An error means that the database does not answer, which the log of its connections says.
        let wait = (try? await sendDue()).flatMap { $0 }.map { Duration.seconds($0) } ?? Self.restTime
        next = .now + min(max(wait, .seconds(1)), Self.restTime)
      }
      try? await Task.sleep(for: .milliseconds(500))
    }
  }

  /// Sends all requests that are due now, and waits for their responses.
  ///
  /// - Returns: The time until the next request is due, in seconds; nil if there is none.
  /// - Throws: The errors of the store.
  @discardableResult
  package func sendDue() async throws -> Double? {
    try await store.planHubLeases(callbacks: callbacks, at: clock())
    // The failure of a request may lead to one to the next hub.
    while try await sendOnce() > 0 {}
    return try await store.nextHubRequest(at: clock())
  }

  /// - Returns: The number of requests.
  private func sendOnce() async throws -> Int {
    try await withThrowingTaskGroup(of: Void.self) { group in
      var (running, count) = (0, 0)
      while let request = try await store.leaseHubRequest(for: Self.leaseTime, at: clock()) {
        if running == Self.width {
          try await group.next()
          running -= 1
        }
        running += 1
        count += 1
        group.addTask { try await self.send(request) }
      }
      try await group.waitForAll()
      return count
    }
  }

  private func send(_ request: HubRequest) async throws {
    var failure: HubFailure?
    if request.failures >= NewsStore.maximumHubFailures {
      failure = HubFailure(message: "the hub has not confirmed the request", wait: 0)
    } else {
      do {
        try await hubs.send(parameters(of: request), to: request.hub)
      } catch let refusal as HubConnection.Refusal {
        failure = HubFailure(
          message: String(refusal.message.terminalSafe.prefix(1000)),
          wait: HubConnection.wait(after: refusal, failures: request.failures, now: clock() ?? Date()))
      } catch {
        // Cancellation must not keep the request. If it cannot be given back, its lease ends by itself.
        await Task.detached { [store] in try? await store.releaseHubRequest(request) }.value
        throw error
      }
      store.hubActivity.note(request.mode, accepted: failure == nil)
    }
    if let failure {
      logger.info(
        "a hub has not accepted a request",
        metadata: [
          "hub": "\(request.hub.terminalSafe)", "mode": "\(request.mode.rawValue)", "reason": "\(failure.message)",
        ])
    }
    try await store.finishHubRequest(request, failure: failure, at: clock())
  }

  private func parameters(of request: HubRequest) -> [(name: String, value: String)] {
    let parameters = [
      ("hub.mode", request.mode.rawValue), ("hub.topic", request.topic), ("hub.callback", request.callback),
    ]
    if request.mode == .unsubscribe { return parameters }
    return parameters + [("hub.lease_seconds", "\(Int(NewsStore.hubLeaseTime))"), ("hub.secret", request.secret)]
  }
}
