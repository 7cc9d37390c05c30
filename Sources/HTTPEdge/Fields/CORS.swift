package import HTTPTypes
package import Hummingbird

/// The CORS fields of public reads, so that pages of any origin can read them (Fetch standard, section 3.3). They are the
/// same for every origin, so that caches need only one variant.
package enum CORS {
  package static func add(to headers: inout HTTPFields) {
    headers[.accessControlAllowOrigin] = "*"
    // `*` exposes all fields. A list would make up a fifth of a response that reports nothing new.
    headers[.accessControlExposeHeaders] = "*"
  }

  /// The response to a preflight request, which names the allowed methods and fields.
  package static var preflight: Response {
    var headers: HTTPFields = [
      .accessControlAllowMethods: "GET, HEAD",
      .accessControlAllowHeaders: "If-None-Match, If-Modified-Since, If-Range, Range",
      .accessControlMaxAge: "86400",
    ]
    add(to: &headers)
    return Response(status: .noContent, headers: headers)
  }
}
