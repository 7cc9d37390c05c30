import HTTPTypes
import Hummingbird
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the first page: the steps of a new newsroom, and the list of items once there is something to read. The
/// steps stay at their address, because the last one follows the first publication.
struct FirstRunHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// Redirects to the first page of the console that the key may open.
  @Sendable func start(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    guard visit.mayWrite else {
      return pages.redirect(to: ConsolePages.Section.all(for: visit).first?.path ?? ConsolePath.sessions)
    }
    return pages.redirect(to: try await services.store.hasPublished() ? ConsolePath.items : ConsolePath.firstRun)
  }

  /// Shows the steps of a new newsroom.
  @Sendable func steps(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try QueryParameters(request.uri.query, known: []).check()
    let progress = try await services.store.progress(for: visit.access)
    var values = PageValues()
    values.set("isPublished", progress.hasPublished)
    values.set("isSourceDone", progress.hasSources)
    values.set("subscribe", visit.isAdministrator ? pages.link(ConsolePath.newSubscription) : nil)
    values.set("isDraftDone", progress.hasDrafts)
    values.set("newItem", pages.link(ConsolePath.newItem))
    values.set("drafts", progress.hasDrafts && !progress.hasPublished ? pages.link(ConsolePath.items) : nil)
    values.set("items", pages.link(ConsolePath.items))
    values.set("reader", services.api.settings.servesReaderPages ? pages.link("/") : nil)
    let url = Self.url(of: request, services.api.settings.publicURL)
    values.set(
      "fetchCommands",
      """
      tidings-fetch --server \(ShellWord.quoted(url)) --store news fetch
      tidings-fetch --store news snapshot
      """)
    return pages.page("first-run", title: pages.texts.text("first-run-title"), for: visit, values)
  }

  /// The address of this server for its clients: the public URL, or the one under which the browser has found it. That is
  /// http on this machine.
  private static func url(of request: Request, _ publicURL: String?) -> String {
    if let publicURL { return publicURL }
    let authority = request.head.authority ?? ""
    let isAuthority = authority.wholeMatch(of: /([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/) != nil
    return "http://\(isAuthority ? authority : "127.0.0.1:8080")"
  }
}

/// A word of a shell's command.
package enum ShellWord {
  /// Returns a text as a single word, in quotation marks if it has characters with a meaning to a shell.
  package static func quoted(_ text: String) -> String {
    guard text.wholeMatch(of: /[A-Za-z0-9:\/._-]+/) == nil else { return text }
    return "'" + text.replacing("'", with: #"'\''"#) + "'"
  }
}
