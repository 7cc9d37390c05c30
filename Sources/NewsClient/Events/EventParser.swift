import Foundation
import HTTPTransfer
import News

/// A parser of server-sent events (HTML standard, section 9.2.6). The bytes may be split anywhere.
package struct EventParser: Sendable {
  /// A dispatched event.
  package struct Event: Sendable, Equatable {
    /// The type; `message` if the stream names none.
    package var type: String
    package var data: String
    /// The last `id` received, with this event or before it.
    package var id: String?

    /// Creates an event.
    package init(type: String = "message", data: String, id: String? = nil) {
      (self.type, self.data, self.id) = (type, data, id)
    }
  }

  /// The maximum number of bytes in an event. A stream with a larger one is not from this API.
  package static let maximumEventBytes = 1 << 20

  /// The last reconnection time that the server has sent, in milliseconds.
  package private(set) var retry: Int?
  private var line: [UInt8] = []
  private var type = ""
  private var data: [String] = []
  private var id: String?
  private var size = 0
  private var isAfterReturn = false
  private var isAtStart = true

  /// Creates a parser at the beginning of a stream.
  package init() {}

  /// Parses bytes.
  ///
  /// - Returns: The events that the bytes complete.
  /// - Throws: `FetchError` with `tooLarge`.
  package mutating func parse(_ bytes: some Sequence<UInt8>) throws -> [Event] {
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
        if size > Self.maximumEventBytes {
          throw FetchError(.tooLarge, "an event has more than \(Self.maximumEventBytes) bytes")
        }
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
    case "retry" where !value.isEmpty && value.utf8.allSatisfy(\.isASCIIDigit): retry = Int(value) ?? retry
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
