package import BackgroundWork
package import Foundation
import HTTPConditions
import HTTPTypes
package import Logging
import News
package import NewsStore
package import OutgoingHTTP
import Synchronization

/// Sends the events of items to the webhooks, signed by the scheme of Standard Webhooks, until their receivers accept
/// them.
///
/// Any number of processes may do so. A lease in the database ensures that one of them sends an event, and that a webhook
/// receives one request at a time.
///
///     let client = OutgoingClient(policy: policy, userAgent: "Tidings/1.0", limits: WebhookService.limits)
///     let service = WebhookService(store: store, client: client, logger: logger)
///     await service.run()
package final class WebhookService: LeasedWork {
  /// The limits of the client: redirects are not followed, a response must arrive within 20 seconds, and its body does
  /// not matter.
  package static let limits: OutgoingLimits = {
    var limits = OutgoingLimits()
    limits.redirects = 0
    limits.totalTime = .seconds(20)
    limits.bodyBytes = 64 << 10
    limits.ignoresBody = true
    return limits
  }()

  /// The duration of a lease in seconds, longer than the timeout of a request and the time to record its outcome.
  private static let leaseTime: Double = 60
  /// A webhook waits for its own receiver alone, so that the number of webhooks is the limit.
  private static let work = WorkLimits(width: NewsStore.maximumWebhooks, rest: .milliseconds(250) ... .seconds(2))
  /// The time after a publication in which its events are expected.
  private static let activeTime: Duration = .seconds(3)
  /// The interval of the counts for metrics, and that of the deletion of old deliveries.
  private static let countTime: Duration = .seconds(15)
  private static let purgeTime: Duration = .seconds(3600)
  /// The interval in which an outcome is recorded again while the database does not answer, and the number of attempts.
  private static let recordingWait: Duration = .seconds(2)
  private static let recordingAttempts = 10

  private let store: NewsStore
  private let client: OutgoingClient
  private let logger: Logger
  private let clock: @Sendable () -> Date?
  private let random: @Sendable () -> Double
  private let lineTime: @Sendable () -> ContinuousClock.Instant
  private let lines = WebhookFailureLines()
  private let activeUntil = Mutex(ContinuousClock.now)

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - client: A client with `limits`, whose shutdown is the caller's.
  ///   - clock: The time in place of that of the database; nil for that of the database.
  ///   - random: Returns numbers from 0 to 1, which spread attempts over time.
  ///   - lineTime: The time by which log lines are limited.
  package init(
    store: NewsStore, client: OutgoingClient, logger: Logger,
    clock: @escaping @Sendable () -> Date? = { nil }, random: @escaping @Sendable () -> Double = { .random(in: 0...1) },
    lineTime: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.store = store
    self.client = client
    self.logger = logger
    self.clock = clock
    self.random = random
    self.lineTime = lineTime
  }

  /// Sends events as they become due, until the task is cancelled.
  package func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.repeatedly(every: Self.countTime) { try await $0.countWebhooks(at: $1) } }
      group.addTask { await self.repeatedly(every: Self.purgeTime) { try await $0.purgeWebhookDeliveries(at: $1) } }
      group.addTask {
        await self.store.forEachVersion {
          self.activeUntil.withLock { $0 = .now + Self.activeTime }
          self.store.webhookActivity.wake.set()
        }
      }
      await Worker(self, "webhooks", Self.work, wokenBy: store.webhookActivity.wake).run()
    }
  }

  private func repeatedly(
    every interval: Duration, _ work: @Sendable (NewsStore, Date?) async throws -> Void
  ) async {
    while !Task.isCancelled {
      try? await work(store, clock())
      try? await Task.sleep(for: interval)
    }
  }

  /// Sends all events that are due now, and waits for their outcomes.
  ///
  /// - Throws: The errors of the store.
  package func sendDue() async throws { _ = try await Worker(self, "webhooks", Self.work).drain() }

  package static var endsMakeDue: Bool { true }

  package func lease(_ room: WorkRoom) async throws -> LeasedJobs<WebhookMessage> {
    let messages = try await store.leaseWebhookDeliveries(limit: room.count, for: Self.leaseTime, at: clock())
    if !messages.isEmpty { return LeasedJobs(messages) }
    let isActive = activeUntil.withLock { .now < $0 }
    return LeasedJobs([], wait: isActive ? 0 : try await store.nextWebhookDelivery(at: clock()))
  }

  package func perform(_ message: WebhookMessage) async {
    let outcome: WebhookOutcome
    do {
      outcome = try await request(message)
      // A cancelled task has ended the connection itself, which is no failure of the receiver.
      if outcome.status == nil { try Task.checkCancellation() }
    } catch {
      // Cancellation must not keep the lease. If it cannot be given back, it ends by itself.
      await Task.detached { [store, clock] in try? await store.releaseDelivery(message, at: clock()) }.value
      return
    }
    if let error = outcome.error, let metadata = lines.line(of: message.webhook, at: lineTime()) {
      // The path of an address may be a secret.
      let reason = error.replacing(message.url, with: message.host).terminalSafe
      logger.info(
        "a webhook has not accepted an event",
        metadata: metadata.merging([
          "webhook": "\(message.webhook.uuidString.lowercased())", "delivery": "\(message.id.uuidString.lowercased())",
          "reason": "\(reason)",
        ]) { _, new in new })
    }
    await record(outcome, of: message)
  }

  /// Records an outcome, also after a cancellation: the receiver has the event.
  private func record(_ outcome: WebhookOutcome, of message: WebhookMessage) async {
    await Task.detached { [store, clock, logger] in
      for attempt in 1...Self.recordingAttempts {
        do {
          if let reason = try await store.recordOutcome(outcome, of: message, at: clock()) {
            logger.warning(
              "a webhook was paused",
              metadata: ["webhook": "\(message.webhook.uuidString.lowercased())", "reason": "\(reason.rawValue)"])
          }
          return
        } catch StoreError.unavailable, StoreError.writesRefused, StoreError.outcomeUnknown {
          // The lease lasts longer than these attempts.
          if attempt < Self.recordingAttempts { try? await Task.sleep(for: Self.recordingWait) }
        } catch {
          logger.warning("the outcome of a webhook was not recorded", metadata: ["error": "\(error)"])
          return
        }
      }
    }.value
  }

  private static let idField = HTTPField.Name("webhook-id")
  private static let timestampField = HTTPField.Name("webhook-timestamp")
  private static let signatureField = HTTPField.Name("webhook-signature")

  /// - Throws: `CancellationError`.
  private func request(_ message: WebhookMessage) async throws -> WebhookOutcome {
    let start = ContinuousClock.now
    let now = clock() ?? Date()
    let body = message.content
    let (id, timestamp) = (message.id.uuidString.lowercased(), Int(now.timeIntervalSince1970))
    var fields: HTTPFields = [.contentType: "application/json"]
    let signature = WebhookSignature.fieldValue(id: id, timestamp: timestamp, body: body, secrets: message.secrets)
    for (name, value) in [
      (Self.idField, id), (Self.timestampField, "\(timestamp)"), (Self.signatureField, signature),
    ] {
      if let name { fields[name] = value }
    }
    var response: OutgoingResponse?
    var error: String?
    do {
      response = try await client.send(
        OutgoingRequest(method: .post, url: try OutgoingURL(message.url), fields: fields, body: body))
      error = Self.problem(response?.status ?? 0)
    } catch let failure as OutgoingError {
      error = "\(failure)"
    }
    let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
    return outcome(message, response, error.map { String($0.terminalSafe.prefix(1000)) }, milliseconds, now: now)
  }

  /// Returns the reason why a response is a failure; nil for a success.
  private static func problem(_ status: Int) -> String? {
    switch status {
    case 200..<300: nil
    case 300..<400: "the receiver has redirected the request with the status \(status), which is not followed"
    case 410: "the receiver is gone for good (410)"
    default: "the receiver has answered with the status \(status)"
    }
  }

  private func outcome(
    _ message: WebhookMessage, _ response: OutgoingResponse?, _ error: String?, _ milliseconds: Int, now: Date
  ) -> WebhookOutcome {
    guard error != nil else {
      return WebhookOutcome(status: response?.status, milliseconds: milliseconds, result: .delivered)
    }
    let retryAfter = response?.fields[.retryAfter].flatMap {
      RetryAfterField.seconds(
        $0, date: response?.fields[.date], now: now, maximum: WebhookSchedule.longestRetryAfter)
    }
    let wait = WebhookSchedule.wait(afterFailures: message.failures, retryAfter: retryAfter, jitter: random())
    let result: WebhookOutcome.Result
    if response?.status == 410 {
      result = .gone
    } else if let wait, message.change != nil {
      result = .retried(after: wait)
    } else {
      // A test has one attempt.
      result = .failed
    }
    return WebhookOutcome(
      status: response?.status, milliseconds: milliseconds, error: error, result: result, retryAfter: retryAfter)
  }
}
