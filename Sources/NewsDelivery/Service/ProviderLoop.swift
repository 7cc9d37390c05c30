import CoreMetrics
import Foundation
import Logging
import News
import NewsStore
import Synchronization

/// Sends the messages of one push service that are due: claims them, sends them with bounded concurrency, and records the
/// outcomes.
///
/// Any number of processes may do so. A claim in the database ensures that one of them sends a message at a time, and
/// ends by itself if the process dies.
final class ProviderLoop: Sendable {
  /// The duration of a claim. It is longer than waiting, sending and recording together.
  static let lease: Duration = .seconds(180)
  /// The maximum time between a claim and the start of sending.
  static let latestStart: Duration = .seconds(60)
  /// The longest wait until the database is asked again, which bounds the delay of messages that other processes add.
  private static let restTime: Duration = .seconds(1)
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
  private let queue: MessageQueue
  private let recorder: OutcomeRecorder
  /// The times from the start of pushes, or the time at which a device may get them, to their acceptance.
  private let delay: CoreMetrics.Timer
  private let isStopping = Atomic(false)

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
    queue = MessageQueue(threshold: sender.width)
    recorder = OutcomeRecorder(lease: Self.lease, logger: logger) { [wake] outcomes in
      try await store.recordOutcomes(outcomes, at: clock())
      // A device may have been due again during its claim.
      wake.set()
    }
  }

  /// Sends messages until the task is cancelled. Messages under way then have some seconds, and claims of others are
  /// given back.
  func run() async {
    // Cancellation must not reach the requests under way: their outcomes would be unknown.
    let work = Task { await self.work() }
    await withTaskCancellationHandler {
      await work.value
    } onCancel: {
      isStopping.store(true, ordering: .relaxed)
      wake.set()
      queue.hasRoom.set()
    }
  }

  private func work() async {
    let recording = Task { await recorder.run() }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<sender.width {
        group.addTask {
          await self.sendMessages()
          return true
        }
      }
      await claimMessages()
      recorder.add(
        queue.close().map { entry in
          .init(
            outcome: PushOutcome(message: entry.message, result: .unsent(after: 0, reason: "the server is stopping")),
            claimed: entry.claimed)
        })
      group.addTask {
        try? await Task.sleep(for: Self.graceTime)
        return false
      }
      var workers = sender.width
      while workers > 0, let isWorker = await group.next() {
        if isWorker {
          workers -= 1
        } else {
          // Workers also wait for the recorder while the database does not answer.
          group.cancelAll()
          recorder.bound(to: Self.graceTime)
        }
      }
      group.cancelAll()
    }
    recorder.close(within: Self.graceTime)
    await recording.value
    await sender.shutdown()
  }

  private func claimMessages() async {
    while !isStopping.load(ordering: .relaxed) {
      // An error means that the database does not answer, which the log of its connections says.
      if let rest = try? await claimOnce() {
        if rest > .zero { await wake.wait(for: rest) }
      } else {
        await wake.wait(for: Self.restTime)
      }
    }
  }

  /// Claims messages if there is room for them.
  ///
  /// - Returns: The wait until the next claim.
  private func claimOnce() async throws -> Duration {
    guard queue.waiting < sender.width else {
      await queue.hasRoom.wait(for: Self.restTime)
      return .zero
    }
    try await pauses.refresh()
    if let rest = pauses.rest { return min(rest, Self.restTime) }
    var limit = sender.width * 2
    if pauses.isProbing {
      // A probe ends before the next one.
      guard queue.isIdle else { return .milliseconds(50) }
      if await pauses.endProbe() == false { limit = PauseRule.minimumAnswers }
    }
    let claimed = ContinuousClock.now
    let messages = try await store.claimMessages(
      sender.provider, limit: limit, lease: Self.lease, reportRate: reportRate, at: clock())
    guard messages.isEmpty else {
      queue.append(messages, claimed: claimed)
      return .zero
    }
    guard let next = try await store.nextDue(sender.provider, at: clock()) else { return Self.restTime }
    return min(max(.seconds(next), .milliseconds(20)), Self.restTime)
  }

  private func sendMessages() async {
    while let entry = await queue.next() {
      let outcome = PushOutcome(message: entry.message, result: await send(entry))
      await recorder.add(.init(outcome: outcome, claimed: entry.claimed))
      queue.finish()
    }
  }

  private func send(_ entry: MessageQueue.Entry) async -> PushOutcome.Result {
    if let rest = pauses.rest { return .unsent(after: rest / .seconds(1), reason: "the push service is paused") }
    guard ContinuousClock.now < entry.claimed + latestStart else {
      return .unsent(after: 0, reason: "the message has waited too long in this process")
    }
    let answer = await sender.send(entry.message)
    if case .sent = answer.result, let due = entry.message.dueAt {
      delay.recordSeconds(max((clock() ?? Date()).timeIntervalSince(due), 0))
    }
    await pauses.note(answer, to: entry.message)
    return answer.result
  }
}
