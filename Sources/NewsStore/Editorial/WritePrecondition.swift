/// The condition that a writer places on the current state of a resource (RFC 9110 section 13.1).
public enum WritePrecondition: Sendable, Equatable {
  /// No condition. `check(revision:)` rejects it; `NewsStore.erase` accepts it.
  case none
  /// The resource exists in one of these revisions.
  case revisions(Set<Int>)
  /// The resource exists.
  case exists
  /// The resource does not exist.
  case absent

  /// Checks the condition against the current revision, which is nil if the resource does not exist.
  ///
  /// - Throws: `StoreError.preconditionFailed`, `preconditionRequired`.
  func check(revision: Int?) throws {
    switch (self, revision) {
    case (.none, _): throw StoreError.preconditionRequired
    case (.revisions(let accepted), let revision?) where accepted.contains(revision): return
    case (.exists, .some), (.absent, nil): return
    default: throw StoreError.preconditionFailed
    }
  }
}
