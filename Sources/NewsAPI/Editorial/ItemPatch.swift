import Foundation
import HTTPEdge
import News
import NewsStore
import SafeHTML

/// A change of some fields of an item, as a JSON Merge Patch (RFC 7396).
struct ItemPatch: Sendable {
  /// The size that is assumed for the content of a patched item, in bytes.
  static let approximateBytes = 16_384

  /// The revision in the patch, if it has one.
  let revision: Int?
  /// The part of the write that concerns the state.
  let change: StateChange
  /// Whether readers are to be alerted to the item.
  let requestsAlert: Bool
  private let id: UUID
  private let fields: [String: JSONValue]
  private let html: SafeHTML?

  /// Reads what a patch says about revision and state. The other fields are checked once the stored item is available.
  /// The HTML is sanitised at once: a transaction must not wait for it.
  ///
  /// - Throws: `ProblemError`, 422, which names the invalid fields.
  init(_ fields: [String: JSONValue], of id: UUID, access: ItemAccess) throws {
    var reader = FieldReader(fields)
    revision = reader.integer("revision", in: 1...Int.max)
    let state = reader.state()
    requestsAlert = reader.requestsAlert()
    guard reader.errors.isEmpty else { throw ProblemError.invalidFields(reader.errors.list) }
    let namesPublication = fields["publishAt"].map { $0 != .null } ?? false
    change = StateChange(state: state, keepsState: true, namesPublication: namesPublication, access: access)
    html = SafeHTML(in: fields)
    (self.id, self.fields) = (id, fields)
  }

  /// Returns the content of the patched item.
  ///
  /// - Throws: `StoreError.notFound` if there is no item; `ProblemError`, 422, which names the invalid fields. A text
  ///   that changes beside HTML is one of them unless the patch names the HTML: readers would still see the old text.
  @Sendable func content(_ existing: EditorialItem?) throws -> ItemContent {
    guard let existing else { throw StoreError.notFound }
    var merged = try JSONValue.members(of: existing, patchedWith: fields)
    merged["state"] = fields["state"]
    var body = try ItemBody(merged, html: html)
    guard body.id == id else { throw ProblemError.foreignID }
    if fields["html"] == nil, let html = existing.item.html {
      guard body.content.text.utf8.elementsEqual(existing.item.text.utf8) else {
        throw ProblemError.invalidFields([FieldError(field: "text", breaks: .textBesideHTML)])
      }
      // Stored HTML is sanitised already.
      body.content.html = html
    }
    return body.content
  }
}
