import Foundation
import HTTPTypes
import NewsStore
import OutgoingHTTP

/// Sends forms to WebSub hubs.
struct HubConnection: Sendable {
  /// The response of a hub that has not accepted a request, or the reason why there was none.
  struct Refusal: Error {
    /// The status of the response; nil without a response.
    var status: Int?
    /// The reason in words.
    var message: String
    /// The header fields of the response.
    var fields: HTTPFields = [:]

    /// Whether the hub refuses this request, and may accept others: a client error other than 408 and 429.
    var isFinal: Bool { status.map { 400..<500 ~= $0 && $0 != 408 && $0 != 429 } ?? false }
  }

  /// The wait after the first failure, in seconds. It doubles with each further one.
  private static let shortest: Double = 30
  /// The longest wait after a failure, in seconds.
  private static let longest: Double = 6 * 3600
  /// The longest wait that `Retry-After` can ask for, in seconds.
  private static let longestRetry: Double = 86_400
  private static let form = "application/x-www-form-urlencoded"

  let client: OutgoingClient

  /// Sends a request.
  ///
  /// - Throws: `Refusal`; `CancellationError`.
  func send(_ parameters: [(name: String, value: String)], to hub: String) async throws {
    let body = parameters.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }.joined(separator: "&")
    let response: OutgoingResponse
    do {
      response = try await client.send(
        OutgoingRequest(
          method: .post, url: try OutgoingURL(hub), fields: [.contentType: Self.form], body: Array(body.utf8)))
    } catch let error as OutgoingError {
      throw Refusal(status: nil, message: "\(error)")
    }
    guard 200..<300 ~= response.status else {
      throw Refusal(
        status: response.status, message: "the hub has answered with the status \(response.status)",
        fields: response.fields)
    }
  }

  /// Returns the wait after a failure, in seconds: exponential backoff with up to a fifth more, and never shorter than
  /// `Retry-After` asks for.
  ///
  /// - Parameter failures: The number of failures before this one.
  static func wait(after refusal: Refusal, failures: Int, now: Date) -> Double {
    let wait = min(shortest * pow(2, Double(min(failures, 16))), longest) * .random(in: 1...1.2)
    return max(wait, min(PollSchedule.retryAfter(refusal.fields, now: now) ?? 0, longestRetry))
  }

  private static let unreserved: CharacterSet = {
    var characters = CharacterSet(charactersIn: "-._~")
    for range in ["a"..."z", "A"..."Z", "0"..."9"] as [ClosedRange<Unicode.Scalar>] {
      characters.insert(charactersIn: range)
    }
    return characters
  }()

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }
}
