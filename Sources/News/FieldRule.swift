/// A rule about a field or a parameter. Error responses have its sentence. The console of the server has sentences of its own
/// in other languages.
package enum FieldRule: Sendable, Hashable {
  // Texts and numbers
  case required, notBlank, noControlCharacters
  case maximumBytes(Int)
  case number(ClosedRange<Int>)
  case maximumElements(Int)
  /// A time in the form of RFC 3339.
  case time
  case languageTag
  case webAddress
  /// A web address, or the address of a file of the server.
  case fileAddress
  case mediaType
  // Topics
  case slug, topics, titles
  case existingTopics(missing: [String])
  case otherTopic
  // Files
  case existingFiles(missing: [String])
  // The times and the state of an item
  case scheduleWithTime, scheduleInFuture, publicationNotInFuture
  case expiryAfterPublication, expiryInFuture
  case dateNotInFuture, dateNotAfterPublication
  /// The HTML of an item would still show the text that a patch replaces.
  case textBesideHTML
  // Subscriptions and webhooks
  case requestableAddress(reason: String)
  case allowedAddress(reason: String)
  /// The server has no key with which passwords are stored.
  case passwordKey
  /// The stored password is for another user or server.
  case passwordAgain
  // Parameters
  case knownParameter, notEmpty, notRepeated, validCursor
  /// The entry for all errors that a response does not list.
  case unlisted(Int)
  /// A rule that only clients of the API break, as its sentence.
  case other(String)
}

extension FieldRule: ExpressibleByStringInterpolation {
  /// Creates a rule that only clients of the API break.
  package init(stringLiteral sentence: String) {
    self = .other(sentence)
  }
}

extension FieldRule {
  /// The sentence without its subject, in English: `must be a whole number from 1 to 200`.
  package var sentence: String {
    switch self {
    case .required: "is required"
    case .notBlank: "must not be blank"
    case .noControlCharacters: "must not contain control characters"
    case .maximumBytes(let count): "must not exceed \(count) bytes in UTF-8"
    case .number(let range): "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .maximumElements(let count): "must be an array of at most \(count) elements"
    case .time: "must be an RFC 3339 date such as 2026-11-21T08:30:00Z"
    case .languageTag: "must be a BCP 47 language tag such as en or pt-BR"
    case .webAddress: "must be an absolute http or https URL of at most 2048 bytes, with a valid host and port"
    case .fileAddress:
      "must be an absolute http or https URL of at most 2048 bytes, with a valid host and port, or /v1/media/{id}"
    case .mediaType: "must be a media type such as image/jpeg"
    case .slug: "must match [a-z0-9-]{1,64}"
    case .topics: "must be an array of at most 16 topics, each matching [a-z0-9-]{1,64}"
    case .titles:
      "must be an object of at most 64 titles by BCP 47 language tag, each one line of at most 256 bytes"
    case .existingTopics(let slugs): "must be existing topics; not found: \(slugs.joined(separator: ", "))"
    case .otherTopic: "must be the slug of another topic"
    case .existingFiles(let paths): "must be existing files; not found: \(paths.joined(separator: ", "))"
    case .scheduleWithTime: "is required for a scheduled item"
    case .scheduleInFuture: "must be in the future for a scheduled item"
    case .publicationNotInFuture:
      "must not be in the future for a published item; the state scheduled publishes it then"
    case .expiryAfterPublication: "must be after publishAt"
    case .expiryInFuture: "must be in the future"
    case .dateNotInFuture: "must not be in the future"
    case .dateNotAfterPublication: "must not be after publishAt"
    case .textBesideHTML:
      "must not change alone while the item has html, which still shows the old text; send html as well, or "
        + "\"html\": null to remove it"
    case .requestableAddress(let reason): "must be an address that can be requested: \(reason)"
    case .allowedAddress(let reason): "must be an address that the server may send to: \(reason)"
    case .passwordKey: "cannot be stored: the server has no TIDINGS_FEED_PASSWORD_KEY"
    case .passwordAgain: "is required for a new user, and again for another user or server"
    case .knownParameter: "is not a parameter of this resource"
    case .notEmpty: "must not be empty"
    case .notRepeated: "must not be repeated"
    case .validCursor: "must be a cursor issued by this list for the same filters"
    case .unlisted(let count): "\(count) more errors are not listed"
    case .other(let sentence): sentence
    }
  }
}

extension FieldError {
  /// Creates the error of a parameter or field that breaks a rule.
  package init(field: String, breaks rule: FieldRule) {
    self.init(field: field, rule: rule.sentence)
    brokenRule = rule
  }
}
