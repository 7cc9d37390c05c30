/// The result of a check.
struct Finding: Sendable, Encodable {
  enum Status: String, Sendable, Encodable {
    case ok
    /// The installation works, but not as well or as safely as it could.
    case warning
    /// The installation does not work, or loses data.
    case problem
  }

  /// The subject of the check.
  var check: String
  var status: Status
  /// The observed state, and the remedy if it is wrong.
  var message: String

  static func ok(_ check: String, _ message: String) -> Finding {
    Finding(check: check, status: .ok, message: message)
  }

  static func warning(_ check: String, _ message: String) -> Finding {
    Finding(check: check, status: .warning, message: message)
  }

  static func problem(_ check: String, _ message: String) -> Finding {
    Finding(check: check, status: .problem, message: message)
  }

  /// The finding on one line.
  var line: String {
    let status = status.rawValue + String(repeating: " ", count: max(1, 9 - status.rawValue.count))
    return status + check + String(repeating: " ", count: max(1, 15 - check.count))
      + message.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
