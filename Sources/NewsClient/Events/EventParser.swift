import Foundation

/// Reads server-sent events from bytes as they come (HTML standard, section 9.2.6), whatever they are cut into.
package struct EventParser: Sendable {
  /// What has been dispatched.
  package struct Event: Sendable, Equatable {
    /// `message` where nothing is said.
    package var type: String
    package var data: String
    /// The `id` that was sent last, with this event or before it.
    package var id: String?

    /// An event of one's own.
    package init(type: String = "message", data: String, id: String? = nil) {
      (self.type, self.data, self.id) = (type, data, id)
    }
  }

  /// Bytes of one event at most; a stream that sends more is none of ours.
  package static let most = 1 << 20

  /// The time to wait before coming again in milliseconds, as it was sent last.
  package private(set) var retry: Int?
  private var line: [UInt8] = []
  private var type = ""
  private var data: [String] = []
  private var id: String?
  private var size = 0
  private var isAfterReturn = false
  private var isAtStart = true

  /// At the beginning of a stream.
  package init() {}

  /// Takes bytes.
  ///
  /// - Returns: The events that end in them.
  /// - Throws: ``FetchError`` with `tooLarge`.
  package mutating func take(_ bytes: some Sequence<UInt8>) throws -> [Event] {
    var events: [Event] = []
    for byte in bytes {
      defer { isAfterReturn = byte == UInt8(ascii: "\r") }
      switch byte {
      case UInt8(ascii: "\n") where isAfterReturn:
        break
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        if let event = endLine() { events.append(event) }
      default:
        line.append(byte)
        size += 1
        if size > Self.most { throw FetchError(.tooLarge, "an event of more than \(Self.most) bytes") }
      }
    }
    return events
  }

  private mutating func endLine() -> Event? {
    var text = String(decoding: line, as: UTF8.self)
    line.removeAll(keepingCapacity: true)
    if isAtStart, text.hasPrefix("\u{FEFF}") { text.removeFirst() }
    isAtStart = false
    if text.isEmpty { return dispatch() }
    let colon = text.firstIndex(of: ":") ?? text.endIndex
    var value = colon == text.endIndex ? "" : text[text.index(after: colon)...]
    if value.first == " " { value.removeFirst() }
    switch text[..<colon] {
    case "event": type = String(value)
    case "data": data.append(String(value))
    case "id" where !value.contains("\0"): id = String(value)
    case "retry" where !value.isEmpty && value.utf8.allSatisfy { 48...57 ~= $0 }: retry = Int(value) ?? retry
    default: break
    }
    return nil
  }

  private mutating func dispatch() -> Event? {
    defer { (type, data, size) = ("", [], 0) }
    guard !data.isEmpty else { return nil }
    return Event(type: type.isEmpty ? "message" : type, data: data.joined(separator: "\n"), id: id)
  }
}
