import Foundation
import HTTPTypes
import Hummingbird
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the list of sessions: those of the key, and all of them for an administrator.
struct SessionHandlers: Sendable {
  let services: ConsoleServices

  private var pages: ConsolePages { services.pages }

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    var parameters = QueryParameters(request.uri.query, known: [Notice.parameter])
    let notice = parameters.value(Notice.parameter, rule: "must be a notice") { Notice(rawValue: $0) }
    let sessions = try await visible(to: visit)
    var values = PageValues()
    values.set("notice", notice.map { pages.texts.text($0.textKey) })
    values.set("sessions", sessions.map { row($0, visit) })
    values.set("hasKeys", visit.isAdministrator)
    return pages.page("sessions", title: pages.texts.text("section-sessions"), for: visit, in: .sessions, values)
  }

  @Sendable func end(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    guard let id = context.parameters.get("id").flatMap({ UUID(uuidString: $0) }),
      try await visible(to: visit).contains(where: { $0.id == id })
    else { throw StoreError.notFound }
    _ = try await services.store.endSession(id)
    guard id != visit.session.id else {
      return pages.redirect(to: ConsolePath.signIn, headers: [.setCookie: services.cookie.removing])
    }
    return pages.redirect(to: ConsolePath.sessions, notice: .sessionEnded)
  }

  private func visible(to visit: ConsoleVisit) async throws -> [ConsoleSession] {
    try await services.store.sessions().filter { visit.isAdministrator || $0.key.id == visit.key.id }
  }

  private func row(_ session: ConsoleSession, _ visit: ConsoleVisit) -> PageValues {
    var values = PageValues()
    values.set("sessionKey", session.key.name)
    values.set("isOwnSession", session.id == visit.session.id)
    values.set("endSession", pages.link(ConsolePath.path(ConsolePath.sessionEnd, id: session.id)))
    for (name, date) in [("begun", session.createdAt), ("used", session.lastUsedAt), ("ends", session.expiresAt)] {
      let shown = pages.date(date)
      values.set("\(name)Time", shown.text)
      values.set("\(name)Machine", shown.machine)
    }
    return values
  }
}
