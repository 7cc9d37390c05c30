import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import NetworkAddresses
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the ways into the console and out of it.
struct SignInHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The maximum length of the form, in bytes.
  private static let maximumFormBytes = 8 << 10
  /// The names of fields.
  private static let key = "key"
  private static let code = "code"

  @Sendable func form(_ request: Request, context: APIContext) async throws -> Response {
    var parameters = QueryParameters(request.uri.query, known: [ReturnTarget.field])
    let target = parameters.text(ReturnTarget.field, maximumBytes: 4096)
    return keyForm(target: ReturnTarget(target))
  }

  @Sendable func signInWithKey(_ request: Request, context: APIContext) async throws -> Response {
    let fields = try await fields(of: request, context)
    let target = ReturnTarget(fields.first(ReturnTarget.field))
    let opened = try await services.store.openSession(key: Self.trimmed(fields.first(Self.key)))
    guard let opened else {
      context.record.setRefusal("unknown key")
      return keyForm(target: target, error: "sign-in-refused")
    }
    return try await begin(opened, request, context, target)
  }

  @Sendable func linkForm(_ request: Request, context: APIContext) async throws -> Response { linkForm() }

  @Sendable func signInWithLink(_ request: Request, context: APIContext) async throws -> Response {
    let fields = try await fields(of: request, context)
    guard let opened = try await services.store.openSession(code: Self.trimmed(fields.first(Self.code))) else {
      context.record.setRefusal("unknown code")
      return linkForm(error: "link-refused")
    }
    return try await begin(opened, request, context, nil)
  }

  @Sendable func signOut(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    _ = try await services.store.endSession(visit.session.id)
    return pages.redirect(to: ConsolePath.signIn, headers: [.setCookie: services.cookie.removing])
  }

  /// Reads the form of an attempt, which counts to the limit of its client.
  ///
  /// - Throws: `ProblemError`, 429; `FormError`.
  private func fields(of request: Request, _ context: APIContext) async throws -> FormFields {
    if let client = services.policy.client(of: request, context) {
      let bucket = services.signIns.bucket(of: client.subscriber)
      if let wait = services.signIns.charge(bucket) { throw ProblemError.tooManyRequests(in: wait) }
    }
    return try await FormBody.fields(of: request, context: context, maximumBytes: Self.maximumFormBytes)
  }

  /// Sends the token of a new session to the browser, and ends the session that it had.
  private func begin(
    _ opened: (token: String, session: ConsoleSession), _ request: Request, _ context: APIContext,
    _ target: ReturnTarget?
  ) async throws -> Response {
    context.record.setKey(opened.session.key)
    if let former = services.cookie.token(in: request.headers),
      let session = try await services.store.session(token: former)
    {
      _ = try await services.store.endSession(session.id)
    }
    return pages.redirect(
      to: target?.target ?? ConsolePath.root, headers: [.setCookie: services.cookie.storing(opened.token)])
  }

  private func keyForm(target: ReturnTarget?, error: String? = nil) -> Response {
    var values = PageValues()
    values.set("action", pages.link(ConsolePath.signIn))
    values.set("next", target?.target)
    values.set("error", error.map { pages.texts.text($0) })
    return pages.page(
      "sign-in", title: pages.texts.text("sign-in-title"), status: error == nil ? .ok : .forbidden, values)
  }

  private func linkForm(error: String? = nil) -> Response {
    var values = PageValues()
    values.set("action", pages.link(ConsolePath.link))
    values.set("signIn", pages.link(ConsolePath.signIn))
    values.set("error", error.map { pages.texts.text($0) })
    return pages.page("link", title: pages.texts.text("sign-in-title"), status: error == nil ? .ok : .forbidden, values)
  }

  /// Returns a text without the white space that copying adds at its ends.
  private static func trimmed(_ text: String?) -> String {
    (text ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
