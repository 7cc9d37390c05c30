/// What a check has found.
struct Finding: Sendable, Encodable {
  enum Status: String, Sendable, Encodable {
    case ok
    /// It works, but not as well or as safely as it could.
    case warning
    /// It does not work, or loses data.
    case problem
  }

  /// What was looked at.
  var check: String
  var status: Status
  /// What is there, and where that is wrong how to mend it.
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

  /// One line.
  var line: String {
    let status = status.rawValue + String(repeating: " ", count: max(1, 9 - status.rawValue.count))
    return status + check + String(repeating: " ", count: max(1, 15 - check.count))
      + message.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}
