import News
import NewsStore

extension PushContent {
  /// The names that the server gives a meaning, and the dictionary of APNs. Further fields cannot have them.
  private static let reservedNames: Set<String> = [
    "aps", "body", "breaking", "code", "content-id", "push", "report", "title", "token", "url",
  ]

  /// Writes the further fields, as strings. Those with reserved names are left out.
  func writeData(to json: inout JSONWriter) {
    json.fields(data.filter { !Self.reservedNames.contains($0.key) }) { $0.write($1) }
  }
}
