extension UInt8 {
  /// Whether the byte is one of `0` to `9`.
  package var isASCIIDigit: Bool { 48...57 ~= self }

  /// Whether the byte is one of `0` to `9`, `A` to `F` and `a` to `f`.
  package var isASCIIHexDigit: Bool { isASCIIDigit || 97...102 ~= self | 32 }

  /// Whether the byte is one of `a` to `z`.
  package var isASCIILowercase: Bool { 97...122 ~= self }

  /// Whether the byte is one of `A` to `Z` and `a` to `z`.
  package var isASCIILetter: Bool { 97...122 ~= self | 32 }
}
