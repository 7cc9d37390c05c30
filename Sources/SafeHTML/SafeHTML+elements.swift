extension SafeHTML {
  /// Whether HTML has, or had, an element of that name.
  ///
  /// - Parameter name: The name in lower case.
  public static func isElement(_ name: String) -> Bool {
    ElementRules.isKnown(name) || ElementRules.dropped.contains(name) || name == "math"
  }

  /// Whether an element never has content, as `img`.
  ///
  /// - Parameter name: The name in lower case.
  package static func isVoid(_ name: String) -> Bool { ElementRules.isVoid(name) }
}
