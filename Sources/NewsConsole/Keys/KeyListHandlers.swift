import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers of the list of keys, and of the page that revokes one.
struct KeyListHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The number of keys on a page.
  private static let pageSize = 20

  @Sendable func list(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let page = try NumberedPage(request, size: Self.pageSize)
    let keys = try await services.store.keys()
    let states: [APIKey.State] = [.valid, .expired, .revoked]
    let (rows, hasMore) = page.rows(of: states.flatMap { state in keys.reversed().filter { $0.state == state } })
    var values = PageValues()
    values.set("newKey", pages.link(ConsolePath.newKey))
    values.set("keys", rows.map { pages.values(of: $0, visit, isListed: true) })
    pages.setPager(page, hasMore: hasMore, path: ConsolePath.keys, in: &values)
    return pages.page("keys", title: pages.texts.text("section-keys"), for: visit, in: .keys, values)
  }

  @Sendable func revocationForm(
    _ request: Request, _ visit: ConsoleVisit, context: APIContext
  ) async throws -> Response {
    let key = try await services.store.key(in: context)
    guard key.state != .revoked else { throw ProblemError.keyNotValid }
    var values = pages.values(of: key, visit)
    values.set("action", pages.link(ConsolePath.path(ConsolePath.keyRevocation, keyID: key.id)))
    values.set("cancel", pages.link(ConsolePath.keys))
    return pages.page(
      "keys-revoke", title: pages.texts.text("key-revocation-title"), for: visit, in: .keys, values)
  }

  @Sendable func revoke(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let key = try await services.store.key(in: context)
    try await services.store.revokeKey(key.id)
    // The session has ended with its key.
    guard key.id != visit.key.id else {
      return pages.redirect(to: ConsolePath.signIn, headers: [.setCookie: services.cookie.removing])
    }
    return pages.redirect(to: ConsolePath.keys, notice: .keyRevoked)
  }
}

extension NewsStore {
  /// Reads the key whose id is in the path, and adds it to the log lines of the request.
  ///
  /// - Throws: `StoreError.notFound`.
  func key(in context: APIContext) async throws -> APIKey {
    guard let id = context.parameters.get("id"), let key = try await keys().first(where: { $0.id == id }) else {
      throw StoreError.notFound
    }
    context.record.setSubject("changed_key", key.id)
    return key
  }
}

extension ProblemError {
  static let keyNotValid = ProblemError(
    .conflict, "key-not-valid", "The key is revoked or has expired", detail: "Create another key.")
}

extension ConsolePages {
  /// Returns the values of a key.
  ///
  /// - Parameter isListed: Whether long texts are shortened, because the page has many keys.
  func values(of key: APIKey, _ visit: ConsoleVisit, isListed: Bool = false) -> PageValues {
    func text(_ text: String, _ limit: Int) -> String { isListed ? Excerpt.of(text, limit: limit) : text }
    var values = PageValues()
    // The name in the head of each page is that of the session's key.
    values.set("keyLabel", text(key.name, 80))
    values.set("keyID", key.id)
    values.set("isOwnKey", key.id == visit.key.id)
    values.set("keyState", key.state.rawValue)
    values.set("keyStateTitle", texts.text("key-\(key.state.rawValue)"))
    values.set("keyScopes", key.permissions.map { texts.text(Self.textKey(of: $0)) }.joined(separator: ", "))
    if let topics = key.topics {
      values.set("isRestricted", true)
      values.set("keyTopics", topics.isEmpty ? texts.text("key-no-topics") : text(topics.joined(separator: ", "), 160))
    }
    setTime("created", key.created, in: &values)
    setTime("expires", key.expires, in: &values)
    setTime("revoked", key.revoked, in: &values)
    setTime("lastUse", key.lastUse, in: &values)
    setTime("previousEnd", key.previousSecretEnd, in: &values)
    if key.state == .valid { values.set("rotation", link(ConsolePath.path(ConsolePath.keyRotation, keyID: key.id))) }
    if key.state != .revoked {
      values.set("revocation", link(ConsolePath.path(ConsolePath.keyRevocation, keyID: key.id)))
    }
    return values
  }

  /// Returns the key of a permission's text, such as `scope-items-write`.
  static func textKey(of permission: APIKey.Permission) -> String {
    "scope-\(permission.rawValue.replacing(":", with: "-"))"
  }
}
