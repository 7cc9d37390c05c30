import Foundation
import Logging
import News
import NewsStore
import Synchronization

/// Shows what keeps a push service from accepting messages, before the rule for pauses decides and also if it never does: in
/// the log, and refusals of the keys of the server in the database too, for metrics, the console and `tidings doctor`.
///
/// Addresses that strangers register have an interval of their own, so that they cannot hide what concerns other devices.
final class ProviderReports: Sendable {
  private struct Intervals {
    var proven = ReportInterval()
    var unproven = ReportInterval()

    mutating func note(_ message: PushMessage, at seconds: Double) -> Int? {
      message.isProven ? proven.note(at: seconds) : unproven.note(at: seconds)
    }
  }

  private struct State {
    var failures = Intervals()
    var refusals = Intervals()
    /// The time of the last accepted message, in seconds.
    var accepted: Double?
    /// Whether the database has a refusal, as far as this process knows.
    var isRefused = false
  }

  /// The time in seconds after an accepted message within which a refusal says nothing about the keys.
  private static let acceptanceTime: Double = 60

  private let sender: any PushSender
  private let store: NewsStore
  private let logger: Logger
  private let clock: @Sendable () -> Date?
  private let state = Mutex(State())

  init(sender: any PushSender, store: NewsStore, logger: Logger, clock: @escaping @Sendable () -> Date?) {
    self.sender = sender
    self.store = store
    self.logger = logger
    self.clock = clock
  }

  /// Notes the state of the service in the database.
  func note(_ found: ProviderState?) { state.withLock { $0.isRefused = found?.refusal != nil } }

  /// Notes an answer.
  ///
  /// - Parameter seconds: A monotonic time in seconds.
  func note(_ answer: PushAnswer, to message: PushMessage, at seconds: Double) async {
    switch answer.result {
    case .sent: await noteAcceptance(at: seconds)
    // A single failure is common. The second one of a message is not.
    case .retry(_, let reason) where answer.isFailure && message.attempts > 0:
      guard let count = state.withLock({ $0.failures.note(message, at: seconds) }) else { return }
      log("messages to devices have failed", reason, ["count": "\(count)"])
    case .tokenError(let reason) where answer.refusesKey || !message.isProven:
      await noteRefusal(reason, of: message, at: seconds)
    case .invalid(let reason) where answer.refusesKey: await noteRefusal(reason, of: message, at: seconds)
    default: break
    }
  }

  private func noteAcceptance(at seconds: Double) async {
    let ends = state.withLock { state in
      state.accepted = seconds
      defer { state.isRefused = false }
      return state.isRefused
    }
    if ends { try? await store.endRefusal(by: sender.provider, at: clock()) }
  }

  private func noteRefusal(_ reason: String, of message: PushMessage, at seconds: Double) async {
    let isDue = state.withLock { state in
      if let accepted = state.accepted, seconds - accepted < Self.acceptanceTime { return false }
      return state.refusals.note(message, at: seconds) != nil
    }
    guard isDue else { return }
    let counts = try? await store.noteRefusal(
      by: sender.provider, reason: reason, isProven: message.isProven, at: clock())
    guard counts == true else { return }
    state.withLock { $0.isRefused = true }
    log("a push service refuses messages", reason)
  }

  private func log(_ text: Logger.Message, _ reason: String, _ other: Logger.Metadata = [:]) {
    let metadata: Logger.Metadata = ["provider": "\(sender.provider.rawValue)", "reason": "\(reason)"]
    logger.warning(text, metadata: metadata.merging(other) { own, _ in own })
  }
}
