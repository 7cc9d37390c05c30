import Foundation
import PushMocks

/// A line of the log for an event. It has the end of the address only, since an address opens a device to its reader.
struct EventLine {
  /// The fields of payloads that are printed, in this order.
  private static let fields = ["title", "content-id", "push", "token", "report", "code", "url"]

  let text: String

  init(_ service: String, _ event: MockEvent) {
    switch event {
    case .accepted(let message): text = "\(service) \(Self.description(of: message))"
    case .faulted(let message, let fault): text = "\(service) fault \(fault): \(Self.description(of: message))"
    case .refused(let rule, let status): text = "\(service) refused with \(status): \(rule)"
    }
  }

  private static func description(of message: ReceivedMessage) -> String {
    let kind = message.field("code") != nil ? "confirmation" : message.isVisible ? "alert" : "silent"
    let details = fields.compactMap { name in message.field(name).map { "\(name)=\($0)" } }
    return "\(kind) to …\(message.address.suffix(4)): \(details.joined(separator: " "))"
  }
}
