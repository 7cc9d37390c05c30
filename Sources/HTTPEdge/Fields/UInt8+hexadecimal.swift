extension UInt8 {
  /// The value of a hexadecimal digit in upper or lower case; nil for any other character.
  package var hexadecimalValue: UInt8? { Character(Unicode.Scalar(self)).hexDigitValue.map(UInt8.init) }
}
