package import Foundation
package import Logging
import Synchronization

/// A limit on the log lines about attempts that a receiver has not accepted: one a minute for each webhook. A receiver that
/// answers all events with an error does not fill the log. Each attempt is in the webhook's own log of deliveries.
package final class WebhookFailureLines: Sendable {
  private struct Webhook {
    var next: ContinuousClock.Instant
    var suppressed = 0
  }

  private static let interval: Duration = .seconds(60)
  /// The time for which the number of lines that were left out is kept: longer than the longest wait between two attempts.
  private static let memory: Duration = .seconds(2 * 86_400)

  private let webhooks = Mutex<[UUID: Webhook]>([:])

  package init() {}

  /// Takes a line from the limit of a webhook.
  ///
  /// - Returns: The metadata of the line: the number of lines that were left out since the last one, `suppressed`, or empty
  ///   if there were none. nil if this line is to be left out.
  package func line(of webhook: UUID, at now: ContinuousClock.Instant) -> Logger.Metadata? {
    webhooks.withLock { webhooks in
      if let last = webhooks[webhook], now < last.next {
        webhooks[webhook]?.suppressed += 1
        return nil
      }
      let suppressed = webhooks[webhook]?.suppressed ?? 0
      // Webhooks that were deleted long ago take no room.
      webhooks = webhooks.filter { $0.value.next + Self.memory > now }
      webhooks[webhook] = Webhook(next: now + Self.interval)
      return suppressed == 0 ? [:] : ["suppressed": "\(suppressed)"]
    }
  }
}
