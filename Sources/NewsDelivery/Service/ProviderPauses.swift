package import Foundation
package import Logging
import News
package import NewsStore
import Synchronization

/// The pauses of one push service, which all processes share through the database.
///
/// After a pause the service receives probes: a few messages, whose answers decide about a longer pause or the end of
/// probing.
package final class ProviderPauses: Sendable {
  private struct State {
    var rule = PauseRule()
    /// The end of the pause.
    var end: ContinuousClock.Instant?
    /// The number of pauses in a row.
    var count = 0
    /// The time of the last reading of the database.
    var read: ContinuousClock.Instant?
    /// Whether a pause of this process is being written, so that the database does not have it yet.
    var isWriting = false
    /// A pause of this process that could not be written.
    var unwritten: Pause?
    /// The number of changes by this process, by which a reading recognises that it is out of date.
    var changes = 0
    /// The answers since the last pause.
    var probe = (sent: 0, errors: 0)
  }

  private struct Pause {
    var end: ContinuousClock.Instant
    var reason: String
  }

  /// The maximum age of what is known from the database.
  private static let refreshTime: Duration = .seconds(1)

  private let sender: any PushSender
  private let store: NewsStore
  private let logger: Logger
  private let clock: @Sendable () -> Date?
  private let reports: ProviderReports
  private let start = ContinuousClock.now
  private let state = Mutex(State())

  package init(
    sender: any PushSender, store: NewsStore, logger: Logger, clock: @escaping @Sendable () -> Date?
  ) {
    self.sender = sender
    self.store = store
    self.logger = logger
    self.clock = clock
    reports = ProviderReports(sender: sender, store: store, logger: logger, clock: clock)
  }

  /// The remaining time of a pause; nil without one.
  package var rest: Duration? {
    state.withLock { $0.end.map { ContinuousClock.now.duration(to: $0) } }.flatMap { $0 > .zero ? $0 : nil }
  }

  /// Whether the service has been paused and has not proved itself since.
  package var isProbing: Bool { state.withLock { $0.count > 0 } }

  /// Reads the pauses of other processes, at most once a second.
  package func refresh() async throws {
    let now = ContinuousClock.now
    let (changes, isOld) = state.withLock { ($0.changes, $0.read.map { $0 + Self.refreshTime < now } ?? true) }
    guard isOld else { return }
    if let pause = state.withLock({ $0.unwritten }) { try await write(pause) }
    let found = try await store.providerStates().first { $0.provider == sender.provider }
    let time = clock() ?? Date()
    reports.note(found)
    state.withLock { state in
      state.read = now
      guard !state.isWriting, state.changes == changes else { return }
      let count = found?.pauses ?? 0
      if count > state.count {
        // Another process has begun a pause.
        state.probe = (0, 0)
        state.rule.reset()
      }
      state.count = count
      state.end = found?.pausedUntil.map { now + .seconds($0.timeIntervalSince(time)) }
    }
  }

  /// Counts an answer, and begins a pause if the answer demands it or the rule does. Answers during a pause belong to
  /// messages from before it, and do not count. Neither do answers that concern an address that anyone may have registered.
  package func note(_ answer: PushAnswer, to message: PushMessage) async {
    let now = ContinuousClock.now
    let seconds = start.duration(to: now) / .seconds(1)
    await reports.note(answer, to: message, at: seconds)
    if !message.isProven, answer.concernsAddress { return }
    let pause = state.withLock { state -> PushAnswer.Pause? in
      if let end = state.end, end > now { return nil }
      switch answer.result {
      case .tokenError: state.probe.errors += 1
      case .sent: state.probe.sent += 1
      default: if answer.isFailure { state.probe.errors += 1 }
      }
      state.rule.note(Self.kind(of: answer), at: seconds)
      if let pause = answer.pause { return pause }
      return state.rule.violation(at: seconds, countsFailures: sender.sharesFailures).map {
        PushAnswer.Pause(seconds: 0, reason: $0)
      }
    }
    if let pause { await begin(pause) }
  }

  private static func kind(of answer: PushAnswer) -> PauseRule.Answer {
    if answer.isFailure { return .failure }
    if case .tokenError = answer.result { return .tokenError }
    return .fine
  }

  private func begin(_ pause: PushAnswer.Pause) async {
    let now = ContinuousClock.now
    let begun = state.withLock { state -> (Double, ContinuousClock.Instant)? in
      // Another answer may have begun a pause in between.
      guard !state.isWriting, state.end.map({ $0 < now }) ?? true else { return nil }
      let seconds = PauseRule.pause(after: state.count, atLeast: pause.seconds)
      let end = now + .seconds(seconds)
      state.end = end
      state.count += 1
      state.isWriting = true
      state.rule.reset()
      state.probe = (0, 0)
      return (seconds, end)
    }
    guard let (seconds, end) = begun else { return }
    logger.warning(
      "a push service is paused",
      metadata: [
        "provider": "\(sender.provider.rawValue)", "reason": "\(pause.reason)", "seconds": "\(Int(seconds))",
      ])
    // Without the database this process pauses alone, and the next refresh tries again.
    try? await write(Pause(end: end, reason: pause.reason))
  }

  /// Writes a pause to the database, and keeps it if that fails. One that has ended meanwhile still lengthens the next one.
  private func write(_ pause: Pause) async throws {
    func note(isWriting: Bool, unwritten: Pause? = nil) {
      state.withLock { state in
        (state.isWriting, state.unwritten) = (isWriting, unwritten)
        state.changes += 1
      }
    }
    note(isWriting: true)
    do {
      let rest = max(ContinuousClock.now.duration(to: pause.end), .zero)
      try await store.pauseProvider(sender.provider, for: rest / .seconds(1), reason: pause.reason, at: clock())
      note(isWriting: false)
    } catch {
      note(isWriting: false, unwritten: pause)
      throw error
    }
  }

  /// Ends probing if the service has accepted messages since the last pause, and has refused at most 5 % of them.
  ///
  /// - Returns: Whether probing has ended.
  package func endProbe() async -> Bool {
    let isFine = state.withLock { $0.probe.sent > 0 && $0.probe.errors * 20 <= $0.probe.sent }
    guard isFine, (try? await store.resumeProvider(sender.provider, at: clock())) != nil else { return false }
    state.withLock { state in
      (state.count, state.end, state.probe) = (0, nil, (0, 0))
      state.changes += 1
      state.rule.reset()
    }
    logger.notice("a push service is no longer paused", metadata: ["provider": "\(sender.provider.rawValue)"])
    return true
  }
}

extension PushAnswer {
  /// Whether the answer refuses the address of the device.
  fileprivate var concernsAddress: Bool {
    switch result {
    case .tokenError, .gone: true
    case .sent, .retry, .unsent, .invalid: false
    }
  }
}
