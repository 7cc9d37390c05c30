import NIOHTTP1

extension HTTPRequestHead {
  /// What follows the question mark of a target in origin form.
  var query: String? {
    uri.firstIndex(of: "?").map { String(uri[uri.index(after: $0)...]) }
  }
}
