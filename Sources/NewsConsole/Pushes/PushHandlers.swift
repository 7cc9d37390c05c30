import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the list of pushes, and of the page of one.
struct PushHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The number of pushes on a page.
  private static let pageSize = 20
  private static let positionParameter = "before"

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var parameters = QueryParameters(request.uri.query, known: [Self.positionParameter])
    let before = parameters.value(Self.positionParameter, rule: "must be the id of a push") { UUID(uuidString: $0) }
    try parameters.check()
    let pushes = try await services.store.pushes(limit: Self.pageSize + 1, before: before, access: context.access)
    let rows = pushes.prefix(Self.pageSize)
    var values = PageValues()
    values.set("pushes", rows.map { pages.values(of: $0, isListed: true) })
    values.set("isEmpty", rows.isEmpty)
    // Older pushes say nothing about the present state of the services.
    if before == nil {
      let services = try await PushServiceList(self.services)
      values.set("services", services.rows(pages, for: visit))
      values.set("hasNoServices", !services.isInUse)
      values.set("hasServices", true)
    }
    values.set("first", before == nil ? nil : pages.link(ConsolePath.pushes))
    let last = pushes.count > rows.count ? rows.last?.id.uuidString.lowercased() : nil
    values.set("older", last.map { pages.link("\(ConsolePath.pushes)?\(Self.positionParameter)=\($0)") })
    values.set("hasPager", before != nil || last != nil)
    return pages.page("pushes", title: pages.texts.text("pushes-title"), for: visit, in: .pushes, values)
  }

  @Sendable func push(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try QueryParameters(request.uri.query, known: []).check()
    let id = try context.resourceID("push")
    guard let push = try await services.store.push(id, access: context.access) else { throw StoreError.notFound }
    var values = pages.values(of: push)
    if let item = push.item, visit.mayWrite {
      values.set("itemLink", pages.link(ConsolePath.path(ConsolePath.item, id: item)))
    }
    values.set("pushesLink", pages.link(ConsolePath.pushes))
    return pages.page("pushes-one", title: pages.title(of: push), for: visit, in: .pushes, values)
  }
}

extension ConsolePages {
  /// The length of the title of an alert, in Unicode scalars.
  private static let alertTitleLength = 120

  /// Returns the title of an alert, or else the purpose of a push.
  func title(of push: Push) -> String {
    let title = push.title.map { Excerpt.of($0, limit: Self.alertTitleLength) } ?? ""
    return title.isEmpty ? texts.text("push-title-\(push.kind.rawValue)") : title
  }

  /// Returns the values of a push: its facts, and what became of its messages.
  ///
  /// - Parameter isListed: Whether to leave out what has not happened.
  func values(of push: Push, isListed: Bool = false) -> PageValues {
    let numbers = NumberText(texts)
    var values = PageValues()
    values.set("pushLink", link(ConsolePath.path(ConsolePath.push, id: push.id)))
    values.set("pushTitle", title(of: push))
    values.set("pushKind", texts.text("push-kind-\(push.kind.rawValue)"))
    if push.cancelled != nil {
      values.set("pushState", texts.text("push-cancelled"))
      values.set("pushStateName", "retracted")
    } else if push.finished == nil {
      values.set("pushState", texts.text("push-under-way"))
      values.set("pushStateName", "scheduled")
    }
    setTime("asked", push.created, in: &values)
    if push.starts != push.created { setTime("starts", push.starts, in: &values) }
    setTime("finished", push.finished, in: &values)
    setTime("cancelled", push.cancelled, in: &values)
    setTime("lastSent", push.lastSent, in: &values)
    values.set("audience", numbers.whole(push.audience))
    values.set("sent", numbers.whole(push.sent))
    if push.audience > 0 { values.set("sentShare", numbers.percent(push.sent, of: push.audience)) }
    for (name, count) in [("refused", push.refused), ("gone", push.gone), ("dropped", push.dropped)] {
      values.set(name, count > 0 || !isListed ? numbers.whole(count) : nil)
    }
    values.set("reports", push.reports > 0 || !isListed ? numbers.whole(push.reports) : nil)
    values.set("woke", numbers.whole(push.woke))
    values.set("foundNews", numbers.whole(push.foundNews))
    if push.reports > 0 {
      values.set("wokeShare", numbers.percent(push.woke, of: push.reports))
      values.set("foundShare", numbers.percent(push.foundNews, of: push.reports))
    }
    return values
  }
}
