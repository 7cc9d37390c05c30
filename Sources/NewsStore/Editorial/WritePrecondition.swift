/// What a writer says about the state it means to overwrite (RFC 9110 section 13.1).
public enum WritePrecondition: Sendable, Equatable {
  /// The writer names no revision, which is enough to create an item with a new id and for nothing else.
  case none
  /// It must be in one of these revisions.
  case revisions(Set<Int>)
  /// It must be there.
  case exists
  /// It must not be there.
  case absent

  /// Judges an overwrite of what is there in `revision`, or is not there (nil).
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
