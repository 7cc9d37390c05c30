import HTTPConditions
import HTTPTypes
import Hummingbird
import News
import NewsStore

extension WritePrecondition {
  /// What a request says about what it overwrites: in `If-Match` or `If-None-Match`, or in the body's `revision`.
  ///
  /// - Throws: 400 for an `If-None-Match` that is not `*`; 412 where field and body contradict each other.
  init(_ headers: HTTPFields, revision: Int? = nil) throws {
    let accepted = EntityTagList(fields: headers, name: .ifMatch)
    let refused = EntityTagList(fields: headers, name: .ifNoneMatch)
    if let refused, refused != .any {
      throw ProblemError.invalidParameters([FieldError(field: "If-None-Match", rule: "must be * in a write")])
    }
    switch (accepted, refused, revision) {
    case (nil, nil, nil): self = .none
    case (nil, nil, let revision?): self = .revisions([revision])
    case (nil, .some, nil): self = .absent
    case (.any?, nil, let revision): self = revision.map { .revisions([$0]) } ?? .exists
    case (.tags(let tags)?, nil, let revision):
      let seen = Set(tags.compactMap(Self.revision(of:)))
      // Both are given: what does not agree with itself cannot hold.
      self = .revisions(revision.map { seen.intersection([$0]) } ?? seen)
    case (.some, .some, _), (nil, .some, .some): throw ProblemError.preconditionFailed
    }
  }

  /// If-Match compares strongly (RFC 9110 section 13.1.1), so a weak tag names no revision.
  private static func revision(of tag: EntityTag) -> Int? {
    guard !tag.isWeak, tag.opaque.hasPrefix("r") else { return nil }
    return Int(tag.opaque.dropFirst())
  }

  /// The tag of a revision.
  static func tag(revision: Int) -> EntityTag { EntityTag(strong: "r\(revision)") }
}
