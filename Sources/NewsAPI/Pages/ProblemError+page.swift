import HTTPTypes
import Hummingbird
import NIOCore
import News
import NewsPages

extension ProblemError {
  /// The statuses whose responses to readers of pages are pages themselves. Others concern the message, not the page.
  private static let pageStatuses: Set<Int> = [400, 404, 410, 500, 503]

  /// The problem as a page with the same status and caching; nil for a problem that a page cannot explain better.
  func page(_ renderer: PageRenderer) -> (fields: HTTPFields, body: ByteBuffer)? {
    guard Self.pageStatuses.contains(problem.status), problem.type != "/problems/malformed-request" else { return nil }
    var fields = fields
    for field in PageViews.fields { fields[field.name] = field.value }
    fields[.contentType] = Representation.pageContentType
    // The words of an editor. Those of other problems are for programmers.
    let detail = problem.status == 410 ? problem.detail : nil
    return (fields, ByteBuffer(string: renderer.errorPage(status: problem.status, detail: detail)))
  }
}
