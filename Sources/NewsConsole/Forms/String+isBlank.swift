extension String {
  /// Whether the text is empty, or has only white space.
  var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
