/// A content coding that the server can answer in (RFC 9110 section 8.4.1).
///
///     let coding = ContentCoding.gzip
///     if coding != .identity { print("Content-Encoding: \(coding.rawValue)") }  // Content-Encoding: gzip
public enum ContentCoding: String, CaseIterable, Hashable, Sendable {
  /// No coding. The name is used in `Accept-Encoding` only, never in `Content-Encoding`.
  case identity
  /// The gzip format of RFC 1952. `x-gzip` in a request means the same (RFC 9110 section 8.4.1.3).
  case gzip

  /// The suffix of the entity tag of a variant in this coding; empty for `identity`.
  var entityTagSuffix: String {
    switch self {
    case .identity: ""
    case .gzip: "-gz"
    }
  }
}
