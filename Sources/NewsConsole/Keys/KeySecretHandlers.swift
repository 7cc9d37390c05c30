import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages
import NewsStore

/// The handlers that make secrets: for a new key, and for an existing one. A secret is shown once, in the response to the
/// form, because the database has only its digest.
struct KeySecretHandlers: ConsoleHandlers {
  let services: ConsoleServices

  /// The times for which the present secret works after a rotation, in seconds, and the keys of their texts.
  private static let overlaps: [(seconds: Int, textKey: String)] = [
    (0, "overlap-none"), (3600, "overlap-hour"), (86_400, "overlap-day"), (604_800, "overlap-week"),
  ]
  private static let usualOverlap = 86_400

  @Sendable func newKey(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    try await page(KeyForm(), visit)
  }

  @Sendable func create(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let form = KeyForm(fields)
    var errors = form.errors.mapValues { pages.texts.text($0, ["bytes": "\(KeyRules.maximumNameBytes)"]) }
    guard errors.isEmpty else { return try await page(form, visit, errors) }
    do {
      let secret = try await services.store.createKey(
        id: form.id, name: form.name, permissions: form.permissions, topics: form.restriction, expiry: form.expiry)
      return self.secret(secret, of: form.name, "key-created", visit)
    } catch StoreError.unknownTopics(let slugs) {
      errors["topics"] = pages.texts.text("rule-unknown-topics", ["topics": slugs.joined(separator: ", ")])
    } catch KeyError.exists(let id) {
      return existing(try await services.store.key(id), visit)
    } catch KeyError.expiryPassed {
      errors["expires"] = pages.text(RuleText(.expiryInFuture))
    }
    return try await page(form, visit, errors)
  }

  @Sendable func rotationForm(_ request: Request, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let key = try await services.store.key(in: context)
    guard key.state == .valid else { throw ProblemError.keyNotValid }
    return rotation(of: key, visit)
  }

  @Sendable func rotate(_ fields: FormFields, _ visit: ConsoleVisit, context: APIContext) async throws -> Response {
    let key = try await services.store.key(in: context)
    guard let overlap = Self.overlaps.first(where: { "\($0.seconds)" == fields.first("overlap") }) else {
      return rotation(of: key, visit, isInvalid: true)
    }
    do {
      let secret = try await services.store.rotateKey(
        key.id, replacing: fields.first("secretName") ?? "", overlap: .seconds(overlap.seconds))
      return self.secret(secret, of: key.name, "key-rotated", visit)
    } catch KeyError.rotated {
      return rotation(of: try await services.store.key(key.id), visit, isRepeated: true)
    } catch is KeyError {
      // The key was revoked or has expired in the meantime.
      throw ProblemError.keyNotValid
    }
  }

  /// Returns the page that shows a secret.
  ///
  /// - Parameter textKey: The key of the sentence about what has happened.
  private func secret(_ secret: String, of name: String, _ textKey: String, _ visit: ConsoleVisit) -> Response {
    var values = PageValues()
    values.set("notice", pages.texts.text(textKey))
    values.set("keyLabel", name)
    values.set("secret", secret)
    values.set("keysLink", pages.link(ConsolePath.keys))
    return pages.page(
      "keys-secret", title: pages.texts.text("key-secret-title"), for: visit, in: .keys, values)
  }

  /// Returns the page after a form that has created its key before. The secret was shown then, and cannot be shown again.
  private func existing(_ key: APIKey, _ visit: ConsoleVisit) -> Response {
    var values = pages.values(of: key, visit)
    values.set("problem", pages.texts.text("key-exists-text"))
    values.set("newKey", pages.link(ConsolePath.newKey))
    values.set("keysLink", pages.link(ConsolePath.keys))
    return pages.page(
      "keys-exists", title: pages.texts.text("key-exists-title"), status: .conflict, for: visit, in: .keys, values)
  }

  /// Returns the page that asks.
  ///
  /// - Parameters:
  ///   - isInvalid: Whether the form that was sent has no overlap of the list.
  ///   - isRepeated: Whether the secret was replaced since the form was made.
  private func rotation(
    of key: APIKey, _ visit: ConsoleVisit, isInvalid: Bool = false, isRepeated: Bool = false
  ) -> Response {
    var values = pages.values(of: key, visit)
    values.set("action", pages.link(ConsolePath.path(ConsolePath.keyRotation, keyID: key.id)))
    values.set("cancel", pages.link(ConsolePath.keys))
    values.set("secretName", key.secretName)
    values.set(
      "problem", isInvalid || isRepeated ? pages.texts.text(isInvalid ? "error-422-text" : "key-rotated-before") : nil)
    values.set(
      "overlaps",
      Self.overlaps.map { overlap -> PageValues in
        var values = PageValues()
        values.set("overlapSeconds", overlap.seconds)
        values.set("overlapTitle", pages.texts.text(overlap.textKey))
        values.set("isUsual", overlap.seconds == Self.usualOverlap)
        return values
      })
    return pages.page(
      "keys-rotate", title: pages.texts.text("key-rotation-title"),
      status: isInvalid ? .unprocessableContent : isRepeated ? .conflict : .ok, for: visit, in: .keys, values)
  }

  private func page(
    _ form: KeyForm, _ visit: ConsoleVisit, _ errors: [String: String] = [:]
  ) async throws -> Response {
    let topics = try await services.store.consoleTopics(for: visit.access)
    var values = PageValues()
    values.set("action", pages.link(ConsolePath.keys))
    values.set("cancel", pages.link(ConsolePath.keys))
    values.set("keyID", form.id)
    values.set("name", form.name)
    values.set("expires", form.expires)
    values.set("scopes", APIKey.Permission.allCases.map { scope($0, isSelected: form.permissions.contains($0)) })
    pages.setTopics(topics, selected: form.topics, in: &values)
    values.set("errors", errors)
    values.set("problem", errors.isEmpty ? nil : pages.texts.text("error-422-text"))
    let labels = [
      ("name", "field-name"), ("scopes", "field-scopes"), ("topics", "only-topics"), ("expires", "field-expireAt"),
    ]
    let fields = labels.map { (id: $0, label: pages.texts.text($1)) }
    pages.setProblemFields(errors, of: fields, in: &values)
    return pages.page(
      "keys-form", title: pages.texts.text("new-key"), status: errors.isEmpty ? .ok : .unprocessableContent,
      for: visit, in: .keys, values)
  }

  private func scope(_ permission: APIKey.Permission, isSelected: Bool) -> PageValues {
    var values = PageValues()
    values.set("scopeName", permission.rawValue)
    values.set("scopeTitle", pages.texts.text(ConsolePages.textKey(of: permission)))
    values.set("isSelectedScope", isSelected)
    return values
  }
}
