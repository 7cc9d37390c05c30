public import Foundation

/// The validators of the current representation (RFC 9110 section 8.8).
///
///     let validators = Validators(entityTag: EntityTag(strong: "x1"), lastModified: Date(timeIntervalSince1970: 0))
///     print(validators.entityTag?.fieldValue ?? "none")  // "x1"
public struct Validators: Hashable, Sendable {
  /// The tag of the variant that would be sent; nil if the representation has none.
  public var entityTag: EntityTag?
  /// The value of `Last-Modified`; nil if none is sent. Fractions of a second are ignored, because the field has none.
  public var lastModified: Date?
  /// Whether `lastModified` is a strong validator (RFC 9110 section 8.8.2.2): the server knows that the content did not
  /// change again within the second it names. Only a strong one is valid in `If-Range`.
  public var isLastModifiedStrong: Bool

  /// Creates the validators of a representation.
  ///
  /// - Parameters:
  ///   - entityTag: The tag of the variant that would be sent.
  ///   - lastModified: The value of `Last-Modified`.
  ///   - isLastModifiedStrong: Whether the content cannot have changed twice within that second.
  public init(entityTag: EntityTag? = nil, lastModified: Date? = nil, isLastModifiedStrong: Bool = false) {
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.isLastModifiedStrong = isLastModifiedStrong
  }
}
