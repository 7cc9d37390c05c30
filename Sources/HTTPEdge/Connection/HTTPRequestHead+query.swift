package import NIOHTTP1

extension HTTPRequestHead {
  /// The text after the question mark of a target in origin form; nil without a question mark.
  package var query: String? {
    uri.firstIndex(of: "?").map { String(uri[uri.index(after: $0)...]) }
  }
}
