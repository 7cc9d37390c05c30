import NewsStore

/// Fits the texts of an alert into the maximum size of a payload.
enum PayloadText {
  private static let ellipsis = "\u{2026}"

  /// Returns a payload of at most `limit` bytes.
  ///
  /// The body is cut first, and then the title, between characters and with an ellipsis at the end.
  ///
  /// - Parameter write: Returns the payload with a title and a body.
  /// - Returns: nil if the payload is too large without any text.
  static func fitted(
    _ title: String, _ body: String, limit: Int, write: (_ title: String, _ body: String) -> [UInt8]
  ) -> [UInt8]? {
    let payload = write(title, body)
    if payload.count <= limit { return payload }
    if let payload = longest(of: body, limit: limit, write: { write(title, $0) }) { return payload }
    return longest(of: title, limit: limit) { write($0, "") }
  }

  /// Returns the payload with the longest prefix of a text that fits; nil if not even an empty text does.
  private static func longest(of text: String, limit: Int, write: (String) -> [UInt8]) -> [UInt8]? {
    let characters = Array(text)
    var best: [UInt8]?
    var (low, high) = (0, characters.count)
    while low <= high {
      let middle = (low + high) / 2
      let payload = write(middle == 0 ? "" : String(characters[..<middle]) + ellipsis)
      if payload.count <= limit {
        (best, low) = (payload, middle + 1)
      } else {
        high = middle - 1
      }
    }
    return best
  }
}
