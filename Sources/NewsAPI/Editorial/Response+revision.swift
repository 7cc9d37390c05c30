import HTTPConditions
import HTTPTypes
import Hummingbird
import NewsStore

extension Response {
  /// What an editor is told of a resource, with its revision as the tag to lock it by.
  ///
  /// - Parameter location: Where the resource is, if this request made it: 201 then.
  static func locked(_ value: some Encodable, revision: Int?, createdAt location: String? = nil) throws -> Response {
    var headers = tag(of: revision)
    headers[.location] = location
    return try .json(value, status: location == nil ? .ok : .created, headers: headers)
  }

  /// The answer to a read: 304 or 412 where the request's conditions say so.
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
