import HTTPConditions
import HTTPTypes
import Hummingbird
import NewsStore

extension Response {
  /// Creates an editorial response with a resource. The entity tag is the revision, which serves as an optimistic lock.
  ///
  /// - Parameter location: The address of the resource if this request has created it; the status is then 201.
  static func locked(_ value: some Encodable, revision: Int?, createdAt location: String? = nil) throws -> Response {
    var headers = tag(of: revision)
    headers[.location] = location
    return try .json(value, status: location == nil ? .ok : .created, headers: headers)
  }

  /// Creates the response to a read: 200 with the resource, or 304 if the request's preconditions allow it.
  ///
  /// - Throws: `ProblemError`, 412, if a precondition fails.
  static func locked(_ value: some Encodable, revision: Int?, to request: Request) throws -> Response {
    let validators = Validators(entityTag: revision.map(WritePrecondition.tag(revision:)))
    switch Preconditions(fields: request.headers).evaluate(method: request.method, current: validators) {
    case .notModified: return Response(status: .notModified, headers: tag(of: revision))
    case .failed: throw ProblemError.preconditionFailed
    case .proceed: return try .locked(value, revision: revision)
    }
  }

  private static func tag(of revision: Int?) -> HTTPFields {
    var headers = HTTPFields()
    headers[.eTag] = revision.map { WritePrecondition.tag(revision: $0).fieldValue }
    return headers
  }
}
