import Foundation
import News
import NewsStore

/// The fields of a new key's form, as they were typed.
struct KeyForm: Sendable, Equatable {
  /// The id that the key receives, so that sending the form twice creates one key.
  let id: String
  var name = ""
  /// The raw values of the permissions.
  var scopes: [String] = []
  /// The slugs of the topics to which the key is restricted. None means no restriction.
  var topics: [String] = []
  /// The end of the key's validity, as a field for times has it; empty for none.
  var expires = ""

  /// Creates an empty form.
  init() {
    id = APIKey.randomID()
  }

  /// Creates the form that was sent.
  init(_ fields: FormFields) {
    id = fields.first("id").flatMap { APIKey.isID($0) ? $0 : nil } ?? APIKey.randomID()
    name = fields.first("name") ?? ""
    scopes = fields.all("scopes")
    topics = TopicChoices.slugs(chosen: fields.all("topics"), typed: fields.all("otherTopics"))
    expires = fields.first("expires") ?? ""
  }

  /// The permissions, in the order of the form. An unknown one is left out.
  var permissions: [APIKey.Permission] {
    APIKey.Permission.allCases.filter { permission in
      scopes.contains { $0.utf8.elementsEqual(permission.rawValue.utf8) }
    }
  }

  /// The topics to which the key is restricted; nil for no restriction.
  var restriction: [String]? { topics.isEmpty ? nil : topics }

  /// The end of the key's validity; nil for none, and for a text that is not a time.
  var expiry: KeyExpiry? { RFC3339.date(from: FormTime.rfc3339(expires)).map { .at($0) } }

  /// Checks the form.
  ///
  /// - Returns: The keys of the sentences about the fields that break a rule, by name of the field.
  var errors: [String: String] {
    var errors: [String: String] = [:]
    for violation in KeyRules.violations(name: name, permissions: permissions, topics: restriction) {
      switch violation {
      case .nameBlank: errors["name"] = "rule-required"
      case .nameTooLong: errors["name"] = "rule-name-too-long"
      case .permissionsMissing: errors["scopes"] = "rule-scopes"
      case .topicsOfAdministrator: errors["topics"] = "rule-admin-topics"
      }
    }
    if name.utf8.contains(where: { $0 < 32 || $0 == 127 }) { errors["name"] = "rule-controls" }
    if !topics.allSatisfy({ TopicSlug.isValid($0) }) { errors["topics"] = "rule-other-topic" }
    if !expires.isBlank, expiry == nil { errors["expires"] = "rule-date" }
    return errors
  }
}
