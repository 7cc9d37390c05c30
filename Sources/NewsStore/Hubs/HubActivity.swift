package import BackgroundWork
import Synchronization

/// The requests to and from WebSub hubs since the start of the process, and a signal for the task that sends them.
public final class HubActivity: Sendable {
  /// The purpose of a request to a hub (`hub.mode`).
  public enum Mode: String, Sendable, CaseIterable {
    case publish, subscribe, unsubscribe
  }

  private struct State {
    var accepted: [Mode: Int] = [:]
    var failed: [Mode: Int] = [:]
    var notices = (valid: 0, ignored: 0)
    var announcementFailures = 0
  }

  /// The signal for the task that sends them.
  package let wake = WakeSignal()

  private let state = Mutex(State())

  init() {}

  /// Signals that a request may be due, because feeds or leases have changed.
  func signal() { wake.set() }

  /// Returns the number of requests to hubs.
  ///
  /// - Parameter accepted: Whether those are counted that a hub has accepted, or the others.
  public func count(of mode: Mode, accepted: Bool) -> Int {
    state.withLock { (accepted ? $0.accepted[mode] : $0.failed[mode]) ?? 0 }
  }

  /// The number of notices with a valid signature, and of those without.
  public var notices: (valid: Int, ignored: Int) { state.withLock { $0.notices } }

  /// The number of failed announcements since the last success, in all processes, as this process has read it last.
  public var announcementFailures: Int { state.withLock { $0.announcementFailures } }

  /// Counts a request to a hub.
  public func note(_ mode: Mode, accepted: Bool) {
    state.withLock { state in
      if accepted { state.accepted[mode, default: 0] += 1 } else { state.failed[mode, default: 0] += 1 }
    }
  }

  /// Counts a notice of a hub.
  public func noteNotice(isValid: Bool) {
    state.withLock { state in
      if isValid { state.notices.valid += 1 } else { state.notices.ignored += 1 }
    }
  }

  func noteAnnouncementFailures(_ count: Int) { state.withLock { $0.announcementFailures = count } }
}
