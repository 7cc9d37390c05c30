internal import Foundation

/// A part of a written date.
struct DateToken {
  enum Kind: Equatable {
    /// Decimal digits.
    case number
    /// Letters, with the points and apostrophes between them.
    case word
    /// The identifier of a zone, such as `Europe/Berlin` or `EST5EDT`.
    case zone
    /// Another character.
    case mark
  }

  var kind: Kind
  var text: String
  /// Whether a blank or the start of the date is before the token.
  var isApart: Bool

  /// The value of a number of at most nine digits.
  var value: Int? { kind == .number && text.utf8.count <= 9 ? Int(text) : nil }

  func isMark(_ characters: String) -> Bool { kind == .mark && characters.contains(text) }

  /// Splits a date into tokens.
  ///
  /// Digits of all scripts become those of ASCII, dashes become hyphens, and comments in parentheses (RFC 5322 section
  /// 3.2.2) are kept apart. Invisible marks for the direction of writing are dropped.
  static func split(_ text: String) -> (tokens: [DateToken], comments: [[DateToken]]) {
    let (outside, comments) = parts(text)
    return (tokens(of: outside), comments.map(tokens))
  }

  private static func tokens(of scalars: [Unicode.Scalar]) -> [DateToken] {
    var tokens: [DateToken] = []
    var isApart = true
    var index = 0
    while index < scalars.count {
      let scalar = scalars[index]
      if scalar == " " {
        isApart = true
        index += 1
        continue
      }
      let (kind, length) = token(at: scalars[index...])
      let text = String(String.UnicodeScalarView(scalars[index..<index + length]))
      tokens.append(DateToken(kind: kind, text: text, isApart: isApart))
      isApart = false
      index += length
    }
    return tokens
  }

  private static func token(at rest: ArraySlice<Unicode.Scalar>) -> (Kind, Int) {
    let digits = rest.prefix { isDigit($0) }.count
    if digits > 0 { return (.number, digits) }
    let letters = rest.prefix { isLetter($0) }.count
    guard letters > 0 else { return (.mark, 1) }
    if let length = zoneLength(rest, letters: letters) { return (.zone, length) }
    var length = letters
    while length + 1 < rest.count, isJoint(rest[rest.startIndex + length]) {
      let more = rest.dropFirst(length + 1).prefix { isLetter($0) }.count
      if more == 0 { break }
      length += 1 + more
    }
    return (.word, length)
  }

  /// Returns the length of the identifier of a zone (IANA Time Zone Database), if one begins here.
  private static func zoneLength(_ rest: ArraySlice<Unicode.Scalar>, letters: Int) -> Int? {
    let next = rest.dropFirst(letters)
    guard rest.first?.properties.isUppercase == true, rest.prefix(letters).allSatisfy(\.isASCII) else { return nil }
    let isPath = next.first == "/" && next.dropFirst().first.map(isLetter) == true
    let isRule =
      letters == 3 && next.first.map(isDigit) == true && next.dropFirst().first?.properties.isUppercase == true
    guard isPath || isRule else { return nil }
    return rest.prefix { $0.isASCII && (isLetter($0) || isDigit($0) || "/_+-".unicodeScalars.contains($0)) }.count
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { "0"..."9" ~= scalar }

  private static func isJoint(_ scalar: Unicode.Scalar) -> Bool {
    ".'\"\u{2019}\u{2BC}\u{5F3}\u{5F4}".unicodeScalars.contains(scalar)
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark:
      true
    default: false
    }
  }

  // MARK: Characters

  /// Returns the characters outside of all parentheses, and those of each outermost pair.
  private static func parts(_ text: String) -> (outside: [Unicode.Scalar], comments: [[Unicode.Scalar]]) {
    var depth = 0
    var output: [Unicode.Scalar] = []
    var comments: [[Unicode.Scalar]] = []
    for scalar in text.precomposedStringWithCompatibilityMapping.unicodeScalars {
      switch scalar {
      case "(":
        if depth == 0 { comments.append([]) }
        depth += 1
      case ")": depth = max(0, depth - 1)
      default:
        guard let character = plain(scalar) else { continue }
        if depth == 0 { output.append(character) } else { comments[comments.count - 1].append(character) }
      }
    }
    return (arabicNumerals(output), comments)
  }

  private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    let properties = scalar.properties
    if properties.numericType == .decimal, let value = properties.numericValue {
      return Unicode.Scalar(UInt8(ascii: "0") + UInt8(value))
    }
    switch properties.generalCategory {
    case .format: return nil
    case .dashPunctuation: return "-"
    case .spaceSeparator, .lineSeparator, .paragraphSeparator, .control: return " "
    default: return scalar == "\u{2212}" ? "-" : scalar
    }
  }

  /// The digits of Chinese and Japanese, and the units after which a number is written with them.
  private static let hanDigits: [Unicode.Scalar: Int] = [
    "〇": 0, "零": 0, "一": 1, "元": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
    "廿": 20, "卅": 30,
  ]
  private static let hanUnits = Set("年月日号號時时點点分秒".unicodeScalars)

  /// Replaces the Han numbers before units: `二〇二四年十二月五日` becomes `2024年12月5日`.
  private static func arabicNumerals(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    guard scalars.contains(where: { hanDigits[$0] != nil }) else { return scalars }
    var output: [Unicode.Scalar] = []
    var run: [Unicode.Scalar] = []
    for scalar in scalars {
      if hanDigits[scalar] != nil {
        run.append(scalar)
        continue
      }
      output += hanUnits.contains(scalar) ? Array(number(run).unicodeScalars) : run
      run = []
      output.append(scalar)
    }
    return output + run
  }

  private static func number(_ run: [Unicode.Scalar]) -> String {
    let digits = run.prefix(4).compactMap { hanDigits[$0] }
    guard digits.contains(where: { $0 >= 10 }) else { return digits.map { String($0) }.joined() }
    // The first ten has its factor before it.
    var sum = 0
    for digit in digits {
      sum = digit < 10 ? sum + digit : digit > 10 ? digit : max(sum, 1) * 10
    }
    return String(sum)
  }
}
