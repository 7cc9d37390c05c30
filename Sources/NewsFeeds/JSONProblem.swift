/// Describes decoding errors in sentences.
enum JSONProblem {
  /// - Parameter depth: The number of keys that lead to the decoded value. Field names are relative to it.
  static func message(for error: any Error, below depth: Int = 0) -> String {
    func path(_ keys: [any CodingKey]) -> String {
      let text = keys.dropFirst(depth).map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
      return "\"\(text.joined().drop { $0 == "." })\""
    }
    return switch error as? DecodingError {
    case .typeMismatch(_, let context) where context.codingPath.count <= depth: "is not a JSON object"
    case .typeMismatch(_, let context): "the field \(path(context.codingPath)) has the wrong type"
    case .keyNotFound(let key, let context): "the field \(path(context.codingPath + [key])) is missing"
    case .valueNotFound(_, let context) where context.codingPath.count <= depth: "is null"
    case .valueNotFound(_, let context): "the field \(path(context.codingPath)) is null"
    case .dataCorrupted(let context) where context.codingPath.count > depth:
      "the field \(path(context.codingPath)) cannot be read"
    default: "is not valid JSON"
    }
  }
}
