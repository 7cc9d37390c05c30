import HTTPEdge
import News
package import NewsStore

/// The query of a hub's request to a callback (WebSub section 5.3).
///
/// Hubs may add parameters that are not known, so that these are ignored.
package struct HubQuery: Equatable {
  /// The purpose of a request.
  package enum Purpose: Equatable {
    /// The hub asks whether a lease is to begin or to end. The response to a yes is the challenge.
    case verification(HubActivity.Mode, challenge: String, seconds: Double?)
    /// The hub has denied the lease or has ended it, for a reason of at most 1 KiB.
    case denial(reason: String)
  }

  /// The maximum size of a challenge, in bytes.
  package static let maximumChallengeBytes = 4096
  private static let maximumReasonBytes = 1024

  /// The address of the feed.
  package var topic: String
  /// The purpose of the request.
  package var purpose: Purpose

  /// Reads the text after the question mark of a target.
  ///
  /// - Returns: nil for an unknown mode, without a topic, and for repeated or malformed parameters.
  package init?(_ query: String?) {
    var values: [String: String] = [:]
    for pair in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        .map { Substring($0) }
      // Bytes are compared: a comparison of characters takes quadratic time in their combining characters.
      guard parts.count == 2, parts[0].utf8.count <= 64, let name = QueryParameters.decode(parts[0]),
        Self.names.contains(name)
      else { continue }
      guard let value = QueryParameters.decode(parts[1]), !value.utf8.contains(0), value.isStreamSafe,
        values.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    guard let topic = values["hub.topic"], 1...2048 ~= topic.utf8.count, let mode = values["hub.mode"] else {
      return nil
    }
    self.topic = topic
    if mode.utf8.elementsEqual("denied".utf8) {
      purpose = .denial(reason: Self.prefix(values["hub.reason"] ?? "", bytes: Self.maximumReasonBytes))
      return
    }
    guard let mode = HubActivity.Mode(text: mode), mode != .publish, let challenge = values["hub.challenge"],
      1...Self.maximumChallengeBytes ~= challenge.utf8.count
    else { return nil }
    let seconds = values["hub.lease_seconds"].flatMap { text in
      text.utf8.count <= 10 && text.utf8.allSatisfy(\.isASCIIDigit) ? Double(text) : nil
    }
    purpose = .verification(mode, challenge: challenge, seconds: seconds)
  }

  private static let names: Set<String> = [
    "hub.mode", "hub.topic", "hub.challenge", "hub.lease_seconds", "hub.reason",
  ]

  private static func prefix(_ text: String, bytes: Int) -> String {
    text.utf8.count <= bytes ? text : String(decoding: text.utf8.prefix(bytes - 4), as: UTF8.self)
  }
}
