import Foundation
import News
import NewsStore

extension PushMessage {
  static let samplePush = UUID(uuid: (0, 0, 0, 0, 0, 0, 64, 0, 128, 0, 0, 0, 0, 0, 0, 1))
  static let sampleDevice = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2))
  static let sampleItem = UUID(uuid: (1, 35, 69, 103, 0, 0, 112, 0, 128, 0, 0, 0, 0, 0, 0, 3))
  static let sampleToken = "1k3x9qam9pkx.10"

  /// Returns a message for a target.
  ///
  /// - Parameter alert: The visible part; nil for a silent message.
  static func sample(
    to target: PushTarget, alert: PushAlert? = nil, code: String? = nil, asksForReport: Bool = false, attempts: Int = 0,
    data: [String: String] = [:]
  ) -> PushMessage {
    var content = PushContent(token: sampleToken, contentID: code == nil ? sampleItem : nil, alert: alert, code: code)
    content.data = data
    return PushMessage(
      push: samplePush, kind: code != nil ? .confirmation : alert == nil ? .silent : .alert, device: sampleDevice,
      target: target, deviceKind: .app, content: content,
      asksForReport: asksForReport, attempts: attempts, registeredAt: Date(),
      isProven: code == nil, lease: UUID())
  }
}

extension PushOutcome.Result {
  /// The wait until the next attempt in seconds; nil for other results.
  var wait: Double? {
    switch self {
    case .retry(let wait, _), .unsent(let wait, _): wait
    case .sent, .gone, .tokenError, .invalid: nil
    }
  }

  /// The reason in words; nil for results that have none.
  var reason: String? {
    switch self {
    case .tokenError(let reason), .retry(_, let reason), .unsent(_, let reason), .invalid(let reason): reason
    case .sent, .gone: nil
    }
  }

  /// The name of the case, for tables.
  var name: String {
    switch self {
    case .sent: "sent"
    case .gone: "gone"
    case .tokenError: "tokenError"
    case .retry: "retry"
    case .unsent: "unsent"
    case .invalid: "invalid"
    }
  }
}

/// A text of many characters, of which each has several Unicode scalars.
func longText(_ count: Int) -> String { String(repeating: "\u{1F469}\u{200D}\u{1F680}\"", count: count) }
