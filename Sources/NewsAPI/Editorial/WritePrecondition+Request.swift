import HTTPConditions
import HTTPEdge
import HTTPTypes
import Hummingbird
import News
import NewsStore

extension WritePrecondition {
  /// Creates the precondition of a JSON Merge Patch, from the header fields and its member `revision`.
  ///
  /// - Throws: `ProblemError`: 422 for an invalid revision; those of `init(_:revision:)`.
  init(_ headers: HTTPFields, of patch: [String: JSONValue]) throws {
    var reader = FieldReader(patch)
    let revision = reader.integer("revision", in: 1...Int.max)
    guard reader.errors.isEmpty else { throw ProblemError.invalidFields(reader.errors.list) }
    try self.init(headers, revision: revision)
  }

  /// Creates the precondition of a write from `If-Match`, `If-None-Match` and the body's `revision`. An `If-Match` that
  /// contradicts the revision gives a precondition that always fails.
  ///
  /// - Throws: `ProblemError`: 400 for an `If-None-Match` other than `*`; 412 for one together with `If-Match` or a
  ///   revision.
  init(_ headers: HTTPFields, revision: Int? = nil) throws {
    let accepted = EntityTagList(fields: headers, name: .ifMatch)
    let refused = EntityTagList(fields: headers, name: .ifNoneMatch)
    if let refused, refused != .any {
      throw ProblemError.invalidParameters([FieldError(field: "If-None-Match", rule: "must be * for a write")])
    }
    switch (accepted, refused, revision) {
    case (nil, nil, nil): self = .none
    case (nil, nil, let revision?): self = .revisions([revision])
    case (nil, .some, nil): self = .absent
    case (.any?, nil, let revision): self = revision.map { .revisions([$0]) } ?? .exists
    case (.tags(let tags)?, nil, let revision):
      let revisions = Set(tags.compactMap(Self.revision(of:)))
      // If the field and the body disagree, the set is empty and the precondition fails.
      self = .revisions(revision.map { revisions.intersection([$0]) } ?? revisions)
    case (.some, .some, _), (nil, .some, .some): throw ProblemError.preconditionFailed
    }
  }

  /// Returns the revision of a tag; nil for a weak one, because `If-Match` compares strongly (RFC 9110 section 13.1.1).
  private static func revision(of tag: EntityTag) -> Int? {
    guard !tag.isWeak, tag.opaque.hasPrefix("r") else { return nil }
    return Int(tag.opaque.dropFirst())
  }

  /// Returns the entity tag of a revision, such as `"r7"`.
  static func tag(revision: Int) -> EntityTag { EntityTag(strong: "r\(revision)") }
}
