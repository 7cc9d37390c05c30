import Foundation

extension Exchange {
  /// The maximum number of bytes to read of a problem document.
  private static let mostOfProblem = 64 << 10

  /// Returns the error for a response that no transfer expects.
  ///
  /// - Parameter content: The beginning of the response body.
  func refusal(_ head: HTTPAnswer, content: Data = Data()) -> FetchError {
    let isTemporary = [408, 425, 429].contains(head.status) || head.status >= 500
    return FetchError(
      isTemporary ? .unavailable : .rejected, "the server answered \(head.status)\(explanation(head, content))",
      status: head.status, retryAfter: retryAfter(of: head))
  }

  /// Returns the error for a response whose body has not been read.
  func refusal(reading head: HTTPAnswer) async -> FetchError {
    var content = Data()
    if head.mediaType == Self.problemType {
      // A problem document that is cut off is ignored, and only the status is reported.
      do {
        for try await chunk in head.body {
          content.append(chunk)
          if content.count > Self.mostOfProblem { break }
        }
      } catch {}
    }
    return refusal(head, content: content)
  }

  private static let problemType = "application/problem+json"

  /// Returns the server's explanation of an error, safe for terminals.
  private func explanation(_ head: HTTPAnswer, _ content: Data) -> String {
    guard head.mediaType == Self.problemType,
      let problem = try? JSONDecoder().decode(ProblemDetails.self, from: content)
    else {
      return ""
    }
    let faults = (problem.errors ?? []).prefix(5).map { "\($0.field) \($0.rule)" }
    let words = faults.isEmpty ? [problem.detail ?? problem.title] : faults
    return ": " + String(words.joined(separator: "; ").singleLine.prefix(500))
  }
}
