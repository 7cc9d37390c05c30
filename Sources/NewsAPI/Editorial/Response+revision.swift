import HTTPConditions
import HTTPTypes
import Hummingbird
import News
import NewsStore

extension EditorialAnswer {
  /// Creates an answer with a resource. The entity tag is the revision, which serves as an optimistic lock.
  ///
  /// - Parameters:
  ///   - location: The address of the resource if this request has created it; the status is then 201.
  ///   - status: The status otherwise.
  ///   - write: Writes the resource.
  static func locked(
    revision: Int?, createdAt location: String? = nil, status: HTTPResponse.Status = .ok,
    content: StoredAnswer.Content = .other, _ write: (inout JSONWriter) throws -> Void
  ) rethrows -> EditorialAnswer {
    var headers = Response.tag(of: revision)
    headers[.location] = location
    return try .json(status: location == nil ? status : .created, headers: headers, content: content, write)
  }
}

extension Response {
  /// Creates the response to a read: 200 with the resource, or 304 if the request's preconditions allow it.
  ///
  /// - Throws: `ProblemError`, 412, if a precondition fails.
  static func locked(
    revision: Int?, to request: Request, _ write: (inout JSONWriter) throws -> Void
  ) throws -> Response {
    let validators = Validators(entityTag: revision.map(WritePrecondition.tag(revision:)))
    switch Preconditions(fields: request.headers).evaluate(method: request.method, current: validators) {
    case .notModified: return Response(status: .notModified, headers: tag(of: revision))
    case .failed: throw ProblemError.preconditionFailed
    case .proceed: return try EditorialAnswer.locked(revision: revision, write).response
    }
  }

  fileprivate static func tag(of revision: Int?) -> HTTPFields {
    var headers = HTTPFields()
    headers[.eTag] = revision.map { WritePrecondition.tag(revision: $0).fieldValue }
    return headers
  }
}
