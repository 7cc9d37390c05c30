package import Foundation

extension HTTPRequester {
  /// The maximum number of bytes to read of a problem document.
  private static let maximumProblemBytes = 64 << 10
  /// The maximum length of a server's explanation in characters.
  private static let maximumExplanationLength = 500

  /// Returns whether the same request may be answered later: 408, 425, 429 and 5xx (RFC 9110, sections 15.5.9 and 15.6;
  /// RFC 8470, section 5.2; RFC 6585, section 4).
  static func isTemporary(_ status: Int) -> Bool {
    [408, 425, 429].contains(status) || status >= 500
  }

  /// Returns the error for a response that the caller does not expect.
  ///
  /// - Parameter content: The beginning of the response body.
  package func refusal(_ head: HTTPTransportResponse, content: Data = Data()) -> FetchError {
    FetchError(
      Self.isTemporary(head.status) ? .unavailable : .rejected,
      "the server responded with \(head.status)\(explanation(head, content))", status: head.status,
      retryAfter: retryAfter(of: head).map { .seconds($0) })
  }

  /// Returns the error for a response whose body has not been read.
  func refusal(reading head: HTTPTransportResponse) async -> FetchError {
    var content = Data()
    if head.mediaType == Self.problemType {
      // An incomplete problem document is ignored, and only the status is reported.
      do {
        for try await chunk in head.body {
          content.append(chunk)
          if content.count > Self.maximumProblemBytes { break }
        }
      } catch {}
    }
    return refusal(head, content: content)
  }

  private static let problemType = "application/problem+json"

  /// Returns the server's explanation of an error, safe for terminals.
  private func explanation(_ head: HTTPTransportResponse, _ content: Data) -> String {
    guard head.mediaType == Self.problemType,
      let problem = try? JSONDecoder().decode(ProblemDetails.self, from: content)
    else {
      return ""
    }
    let errors = (problem.errors ?? []).prefix(5).map { "\($0.field) \($0.rule)" }
    let reasons = errors.isEmpty ? [problem.detail ?? problem.title] : errors
    let line = reasons.joined(separator: "; ").singleLine
    let maximum = Self.maximumExplanationLength
    let text: String = line.count > maximum ? line.prefix(maximum) + "…" : line
    return ": " + text
  }
}
