package import BackgroundWork
package import Foundation
package import Logging
import News
package import NewsStore
package import OutgoingHTTP

/// Keeps leases at the WebSub hubs of the feeds that the server follows, so that the hubs notify it of changes.
///
/// Any number of processes may do so. A lease in the database ensures that one of them sends a request.
package final class HubSubscriber: LeasedWork {
  /// The longest rest bounds the delay of changes by other processes.
  private static let limits = WorkLimits(width: 4, rest: .seconds(1) ... .seconds(60))
  /// The duration in seconds after which another process may send a request again, longer than its timeout.
  private static let leaseTime: Double = 180

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
  ///   - clock: The time in place of that of the database; nil for that of the database.
  package init(
    store: NewsStore, client: OutgoingClient, publicURL: String?, logger: Logger,
    clock: @escaping @Sendable () -> Date? = { nil }
  ) {
    self.store = store
    hubs = HubConnection(client: client)
    callbacks = publicURL.map { $0 + Subscription.WebSub.callbackPath }
    self.logger = logger
    self.clock = clock
  }

  /// Sends requests as they become due, until the task is cancelled.
  package func run() async { await worker.run() }

  /// Sends all requests that are due now, and waits for their responses.
  ///
  /// - Returns: The time until the next request is due, in seconds; nil if there is none.
  /// - Throws: The errors of the store.
  @discardableResult
  package func sendDue() async throws -> Double? { try await worker.drain() }

  private var worker: Worker<HubSubscriber> {
    Worker(self, "hub-requests", Self.limits, wokenBy: store.hubActivity.wake)
  }

  package static var endsMakeDue: Bool { true }

  package func prepare() async throws { try await store.planHubLeases(callbacks: callbacks, at: clock()) }

  package func lease(_ room: WorkRoom) async throws -> LeasedJobs<HubRequest> {
    let request = try await store.leaseHubRequest(for: Self.leaseTime, skipsFailing: !room.admitsSlow, at: clock())
    guard let request else { return LeasedJobs([], wait: try await store.nextHubRequest(at: clock())) }
    return LeasedJobs([request])
  }

  package func isSlow(_ request: HubRequest) -> Bool { request.failures > 0 }

  /// Sends a request. The failure may lead to a request to the next hub.
  package func perform(_ request: HubRequest) async throws {
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
