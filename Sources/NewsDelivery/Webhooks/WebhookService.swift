package import Foundation
import HTTPConditions
import HTTPTypes
public import Logging
import News
public import NewsStore
public import OutgoingHTTP
import Synchronization

/// Sends the events of items to the webhooks, signed by the scheme of Standard Webhooks, until their receivers accept
/// them.
///
/// Any number of processes may do so. A claim in the database ensures that one of them sends an event, and that a webhook
/// receives one request at a time.
///
///     let client = OutgoingClient(policy: policy, userAgent: "Tidings/1.0", limits: WebhookService.limits)
///     let service = WebhookService(store: store, client: client, logger: logger)
///     await service.run()
public final class WebhookService: Sendable {
  /// The limits of the client: redirects are not followed, a response must arrive within 20 seconds, and its body does
  /// not matter.
  public static let limits: OutgoingLimits = {
    var limits = OutgoingLimits()
    limits.redirects = 0
    limits.totalTime = .seconds(20)
    limits.bodyBytes = 64 << 10
    limits.ignoresBody = true
    return limits
  }()

  /// The duration of a claim in seconds, longer than the timeout of a request and the time to record its outcome.
  private static let claimTime: Double = 60
  /// The interval in which signals and the version of the feed are looked at.
  private static let tickTime: Duration = .milliseconds(100)
  /// The limits of the interval in which the database is read without a signal.
  private static let restTimes: ClosedRange<Duration> = .milliseconds(250) ... .seconds(2)
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

  /// Creates a service.
  ///
  /// - Parameter client: A client with `limits`, whose shutdown is the caller's.
  public convenience init(store: NewsStore, client: OutgoingClient, logger: Logger) {
    self.init(store: store, client: client, logger: logger, clock: { nil })
  }

  /// - Parameters:
  ///   - clock: The time in place of that of the database; nil for that of the database.
  ///   - random: Returns numbers from 0 to 1, which spread attempts over time.
  ///   - lineTime: The time by which log lines are limited.
  package init(
    store: NewsStore, client: OutgoingClient, logger: Logger,
    clock: @escaping @Sendable () -> Date?, random: @escaping @Sendable () -> Double = { .random(in: 0...1) },
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
  public func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.repeatedly(every: Self.countTime) { try await $0.countWebhooks(at: $1) } }
      group.addTask { await self.repeatedly(every: Self.purgeTime) { try await $0.purgeWebhookDeliveries(at: $1) } }
      var version: FeedVersion?
      var (activeUntil, next) = (ContinuousClock.now, ContinuousClock.now)
      while !Task.isCancelled {
        let current = store.cachedSnapshot?.feedVersion
        if current != version {
          version = current
          activeUntil = .now + Self.activeTime
          next = .now
        }
        if store.webhookActivity.takeSignal() || .now >= next {
          // An error means that the database does not answer, which the log of its connections says.
          let claimed = (try? await claim()) ?? []
          for message in claimed { group.addTask { await self.deliver(message) } }
          next = .now + (await rest(isActive: .now < activeUntil))
        }
        try? await Task.sleep(for: Self.tickTime)
      }
    }
  }

  private func rest(isActive: Bool) async -> Duration {
    if isActive { return Self.restTimes.lowerBound }
    let wait = (try? await store.nextWebhookDelivery(at: clock())).flatMap { $0 }.map { Duration.seconds($0) }
    return min(max(wait ?? Self.restTimes.upperBound, Self.restTimes.lowerBound), Self.restTimes.upperBound)
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
  package func sendDue() async throws {
    while true {
      let claimed = try await claim()
      if claimed.isEmpty { return }
      await withDiscardingTaskGroup { group in
        for message in claimed { group.addTask { await self.deliver(message) } }
      }
    }
  }

  /// Claims a delivery of each webhook that has one. There is no other limit: a webhook waits for its own receiver alone.
  private func claim() async throws -> [WebhookMessage] {
    try await store.claimWebhookDeliveries(limit: NewsStore.maximumWebhooks, for: Self.claimTime, at: clock())
  }

  /// Sends an event, and then what else is due for its webhook.
  private func deliver(_ first: WebhookMessage) async {
    var next: WebhookMessage? = first
    while let message = next {
      await send(message)
      if Task.isCancelled { return }
      next = try? await store.claimWebhookDeliveries(
        limit: 1, of: message.webhook, for: Self.claimTime, at: clock()
      ).first
    }
  }

  private func send(_ message: WebhookMessage) async {
    let outcome: WebhookOutcome
    do {
      outcome = try await request(message)
      // A cancelled task has ended the connection itself, which is no failure of the receiver.
      if outcome.status == nil { try Task.checkCancellation() }
    } catch {
      // Cancellation must not keep the claim. If it cannot be given back, it ends by itself.
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
          // The claim lasts longer than these attempts.
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
