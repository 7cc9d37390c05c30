/// The members of a problem document (RFC 9457) that explain an error.
struct ProblemDetails: Decodable {
  /// An invalid field of a request, which is an extension member.
  struct FieldError: Decodable {
    var field: String
    var rule: String
  }

  /// A short description of the problem type.
  var title: String
  /// The description of this occurrence.
  var detail: String?
  /// The invalid fields.
  var errors: [FieldError]?
}
