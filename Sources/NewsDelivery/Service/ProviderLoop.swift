import BackgroundWork
import CoreMetrics
import Foundation
import Logging
import News
import NewsStore

/// Sends the messages of one push service that are due: leases them, sends them with bounded concurrency, and records the
/// outcomes.
///
/// Any number of processes may do so. A lease in the database ensures that one of them sends a message at a time, and
/// ends by itself if the process dies.
final class ProviderLoop: LeasedWork {
  /// A message and the time at which it was leased.
  struct Job: Sendable {
    var message: PushMessage
    var leased: ContinuousClock.Instant
  }

  /// The duration of a lease. It is longer than waiting, sending and recording together.
  static let lease: Duration = .seconds(180)
  /// The maximum time between a lease and the start of sending.
  static let latestStart: Duration = .seconds(60)
  /// The bounds of the wait until the database is asked again. The upper one bounds the delay of messages that other
  /// processes add.
  private static let rest: ClosedRange<Duration> = .milliseconds(20) ... .seconds(1)
  /// The time that messages under way have at the end of the process.
  private static let graceTime: Duration = .seconds(5)

  let sender: any PushSender
  /// The signal that messages may be due.
  let wake = WakeSignal()

  private let store: NewsStore
  private let pauses: ProviderPauses
  private let logger: Logger
  private let reportRate: Double
  private let latestStart: Duration
  private let clock: @Sendable () -> Date?
  private let recorder: OutcomeRecorder
  /// The times from the start of pushes, or the time at which a device may get them, to their acceptance.
  private let delay: CoreMetrics.Timer

  init(
    sender: any PushSender, store: NewsStore, reportRate: Double, latestStart: Duration, logger: Logger,
    clock: @escaping @Sendable () -> Date?
  ) {
    self.sender = sender
    self.store = store
    self.reportRate = reportRate
    self.latestStart = latestStart
    self.logger = logger
    self.clock = clock
    pauses = ProviderPauses(sender: sender, store: store, logger: logger, clock: clock)
    delay = CoreMetrics.Timer(
      label: "tidings_push_delay_seconds", dimensions: [("provider", sender.provider.rawValue)])
    recorder = OutcomeRecorder(lease: Self.lease, logger: logger) { [wake] outcomes in
      try await store.recordOutcomes(outcomes, at: clock())
      // A device may have been due again during its lease.
      wake.set()
    }
  }

  /// Sends messages until the task is cancelled. Messages under way then have some seconds, and leases of others are
  /// given back.
  func run() async {
    let recording = Task { await recorder.run() }
    // Messages are leased while others are sent, so that sending does not wait for the database.
    let limits = WorkLimits(width: sender.width, waiting: 2 * sender.width, rest: Self.rest, grace: Self.graceTime)
    await Worker(self, sender.provider.rawValue, limits, wokenBy: wake).run()
    // Cancellation must not reach the end of the connections.
    await Task {
      recorder.close(within: Self.graceTime)
      await recording.value
      await sender.shutdown()
    }.value
  }

  func lease(_ room: WorkRoom) async throws -> LeasedJobs<Job> {
    try await pauses.refresh()
    if let rest = pauses.rest { return LeasedJobs([], wait: rest / .seconds(1)) }
    var limit = min(room.count, sender.width * 2)
    if pauses.isProbing {
      // A probe ends before the next one.
      guard room.isIdle else { return LeasedJobs([], wait: 0.05) }
      if await pauses.endProbe() == false { limit = PauseRule.minimumAnswers }
    }
    let leased = ContinuousClock.now
    let messages = try await store.leaseMessages(
      sender.provider, limit: limit, for: Self.lease, reportRate: reportRate, at: clock())
    guard messages.isEmpty else { return LeasedJobs(messages.map { Job(message: $0, leased: leased) }) }
    return LeasedJobs([], wait: try await store.nextDue(sender.provider, at: clock()))
  }

  func perform(_ job: Job) async {
    let outcome = PushOutcome(message: job.message, result: await send(job))
    await recorder.add(.init(outcome: outcome, leased: job.leased))
  }

  func giveBack(_ jobs: [Job]) async {
    recorder.add(
      jobs.map { job in
        let result = PushOutcome.Result.unsent(after: 0, reason: "the server is stopping")
        return .init(outcome: PushOutcome(message: job.message, result: result), leased: job.leased)
      })
  }

  /// Lets jobs end that wait for the recorder, because the database does not answer.
  func graceHasEnded() { recorder.bound(to: Self.graceTime) }

  private func send(_ job: Job) async -> PushOutcome.Result {
    if let rest = pauses.rest { return .unsent(after: rest / .seconds(1), reason: "the push service is paused") }
    guard ContinuousClock.now < job.leased + latestStart else {
      return .unsent(after: 0, reason: "the message has waited too long in this process")
    }
    let answer = await sender.send(job.message)
    if case .sent = answer.result, let due = job.message.dueAt {
      delay.recordSeconds(max((clock() ?? Date()).timeIntervalSince(due), 0))
    }
    await pauses.note(answer, to: job.message)
    return answer.result
  }
}
