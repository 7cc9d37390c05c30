/// The rules about the properties of a new key. The command `tidings keys` and the console share them.
public enum KeyRules {
  /// A property that breaks its rule.
  public enum Violation: Sendable, Hashable {
    /// The name is blank.
    case nameBlank
    /// The name has more than `maximumNameBytes`.
    case nameTooLong
    /// There is no permission.
    case permissionsMissing
    /// Topics restrict a key with the permission `admin`, which is not only about items.
    case topicsOfAdministrator
  }

  /// The maximum size of a name, in bytes of UTF-8.
  public static let maximumNameBytes = 256

  /// Checks the properties of a new key. Whether its topics exist, and its expiry is in the future, is checked by
  /// `NewsStore.createKey(name:permissions:topics:expiry:)`.
  ///
  /// - Parameter topics: The topics to which the key is restricted; nil for no restriction.
  /// - Returns: The violations, in the order of the properties.
  public static func violations(
    name: String, permissions: [APIKey.Permission], topics: [String]?
  ) -> [Violation] {
    var violations: [Violation] = []
    if name.allSatisfy(\.isWhitespace) {
      violations.append(.nameBlank)
    } else if name.utf8.count > maximumNameBytes {
      violations.append(.nameTooLong)
    }
    if permissions.isEmpty { violations.append(.permissionsMissing) }
    if topics != nil, permissions.contains(.admin) { violations.append(.topicsOfAdministrator) }
    return violations
  }
}
