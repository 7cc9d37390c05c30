package import BackgroundWork
import Synchronization

/// The number of webhooks by the success of their requests, and of the deliveries that are due.
public struct WebhookCounts: Sendable, Equatable {
  /// The webhooks whose last request has succeeded, or that have had none.
  public var working = 0
  /// The webhooks whose last request has failed.
  public var failing = 0
  /// The webhooks to which nothing is sent.
  public var paused = 0
  /// The deliveries with an attempt to come, without those of paused webhooks.
  public var due = 0
  /// The time for which the most delayed delivery is overdue, in seconds.
  public var overdueSeconds = 0.0

  /// Creates counts of zero.
  public init() {}
}

/// The requests to webhooks since the start of the process, and a signal for the task that sends them.
public final class WebhookActivity: Sendable {
  private struct State {
    var delivered = 0
    var failed = 0
    var counts = WebhookCounts()
  }

  /// The signal for the task that sends them.
  package let wake = WakeSignal()

  private let state = Mutex(State())

  init() {}

  /// Signals that a delivery may be due.
  func signal() { wake.set() }

  /// The number of requests that were accepted, and of those that have failed.
  public var attempts: (delivered: Int, failed: Int) { state.withLock { ($0.delivered, $0.failed) } }

  /// All webhooks as of the last `countWebhooks()`.
  public var counts: WebhookCounts { state.withLock { $0.counts } }

  func note(isDelivered: Bool) {
    state.withLock { state in
      if isDelivered { state.delivered += 1 } else { state.failed += 1 }
    }
  }

  func noteCounts(_ counts: WebhookCounts) { state.withLock { $0.counts = counts } }
}
