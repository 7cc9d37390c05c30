extension StringProtocol {
  /// Whether a text from outside is in Stream-Safe Text Format (UAX #15-D4): no base character is followed by more than
  /// 30 combining marks. No language has more than a few.
  ///
  /// Hashing and comparing strings put the marks of a character into their canonical order, in time quadratic in their
  /// number: 60 kB of marks take minutes. Texts in this format are hashed and compared in linear time. The readers of
  /// bodies, queries, forms and header fields refuse any other text, so that no later use of a value has to be careful.
  ///
  ///     print("cafe\u{301}".isStreamSafe)  // true
  package var isStreamSafe: Bool {
    // The bytes of all scalars from U+0300 begin with 0xCC or more. Most texts have none of them.
    guard utf8.contains(where: { $0 >= 0xCC }) else { return true }
    var marks = 0
    for scalar in unicodeScalars {
      marks = scalar.value >= 0x300 && scalar.decomposesToMarks ? marks + 1 : 0
      if marks > 30 { return false }
    }
    return true
  }
}

extension Unicode.Scalar {
  /// Whether the canonical decomposition begins with a combining mark. The scalars of the second condition are no marks,
  /// but consist of them (Unicode, "Non-starter decompositions").
  fileprivate var decomposesToMarks: Bool {
    properties.canonicalCombiningClass != .notReordered || value == 0xF73 || value == 0xF75 || value == 0xF81
  }
}

extension RawRepresentable<String> {
  /// Parses a value of a closed list, whose names have at most 64 bytes. The length is checked first, because comparing
  /// long texts takes long.
  package init?(text: String) {
    guard text.utf8.count <= 64 else { return nil }
    self.init(rawValue: text)
  }
}
