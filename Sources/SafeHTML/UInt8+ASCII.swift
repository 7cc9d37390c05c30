extension UInt8 {
  /// Whether the byte is one of `0` to `9`.
  var isASCIIDigit: Bool { 48...57 ~= self }

  /// Whether the byte is one of `A` to `Z` and `a` to `z`.
  var isASCIILetter: Bool { 97...122 ~= self | 32 }

  var isASCIIAlphanumeric: Bool { isASCIIDigit || isASCIILetter }
}
