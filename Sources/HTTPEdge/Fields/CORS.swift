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

  /// The response to the preflight request of a read, which names the allowed methods and fields.
  package static var preflight: Response {
    preflight(methods: "GET, HEAD", fields: "If-None-Match, If-Modified-Since, If-Range, Range")
  }

  /// Returns the response to the preflight request of a write with a JSON body and a bearer token.
  package static func preflight(methods: String) -> Response {
    preflight(methods: methods, fields: "Authorization, Content-Type")
  }

  private static func preflight(methods: String, fields: String) -> Response {
    var headers: HTTPFields = [
      .accessControlAllowMethods: methods, .accessControlAllowHeaders: fields, .accessControlMaxAge: "86400",
    ]
    add(to: &headers)
    return Response(status: .noContent, headers: headers)
  }
}
