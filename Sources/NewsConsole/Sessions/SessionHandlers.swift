import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the list of sessions: those of the key, and all of them for an administrator.
struct SessionHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The number of sessions on a page.
  private static let pageSize = 25

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let page = try NumberedPage(request, size: Self.pageSize)
    let sessions = try await services.store.sessions(
      ofKey: visit.isAdministrator ? nil : visit.key.id, limit: page.size + 1, offset: page.offset)
    var values = PageValues()
    values.set("sessions", sessions.prefix(page.size).map { row($0, visit) })
    pages.setPager(page, hasMore: sessions.count > page.size, path: ConsolePath.sessions, in: &values)
    values.set("hasKeys", visit.isAdministrator)
    return pages.page("sessions", title: pages.texts.text("section-sessions"), for: visit, in: .sessions, values)
  }

  @Sendable func end(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    guard let id = context.parameters.get("id").flatMap({ UUID(uuidString: $0) }),
      let session = try await services.store.session(id), visit.isAdministrator || session.key.id == visit.key.id
    else { throw StoreError.notFound }
    _ = try await services.store.endSession(id)
    guard id != visit.session.id else {
      return pages.redirect(to: ConsolePath.signIn, headers: [.setCookie: services.cookie.removing])
    }
    return pages.redirect(to: ConsolePath.sessions, notice: .sessionEnded)
  }

  private func row(_ session: ConsoleSession, _ visit: ConsoleVisit) -> PageValues {
    var values = PageValues()
    values.set("sessionKey", Excerpt.of(session.key.name, limit: 80))
    values.set("isOwnSession", session.id == visit.session.id)
    values.set("endSession", pages.link(ConsolePath.path(ConsolePath.sessionEnd, id: session.id)))
    pages.setTime("begun", session.createdAt, in: &values)
    pages.setTime("used", session.lastUsedAt, in: &values)
    pages.setTime("ends", session.expiresAt, in: &values)
    return values
  }
}
