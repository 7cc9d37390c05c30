/// The content codings the server can answer in (RFC 9110 section 8.4.1).
public enum ContentCoding: String, CaseIterable, Hashable, Sendable {
  /// No coding. The word is used in `Accept-Encoding` only, never in `Content-Encoding`.
  case identity
  /// The gzip format of RFC 1952. `x-gzip` in a request means the same (RFC 9110 section 8.4.1.3).
  case gzip

  /// What the entity tag of a variant in this coding ends with; empty for `identity`.
  var entityTagSuffix: String {
    switch self {
    case .identity: ""
    case .gzip: "-gz"
    }
  }
}
