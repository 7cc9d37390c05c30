internal import Foundation

/// The zone of a written date.
struct DateZone {
  /// The offset in minutes east of UTC, which applies before the others.
  var offset: Int?
  /// The first known name or identifier of a zone.
  var name: TimeZone?

  /// Creates a zone that nothing names.
  init() {}

  /// Reads a comment that is the name of a zone, an offset, or both, such as `(GMT+7)`, `(EST)` or `(UTC+01:00)`.
  ///
  /// - Returns: nil for other comments.
  init?(comment tokens: [DateToken]) {
    let words = tokens.prefix { $0.kind == .word }.map(\.text)
    var rest = tokens.dropFirst(words.count)
    if words.count == 1 { add(name: words[0]) } else { add(longName: words) }
    guard words.isEmpty || isKnown else { return nil }
    if words.isEmpty, let token = rest.first, token.kind == .zone, rest.count == 1 {
      add(identifier: token.text)
      rest = []
    }
    if let sign = rest.popFirst() {
      let isPair = rest.dropFirst().first?.isMark(":") == true
      guard sign.isMark("+-"), rest.count == (isPair ? 3 : 1), let hours = rest.first, let last = rest.last,
        let minutes = Self.minutes(hours.text, isPair ? last.text : nil)
      else { return nil }
      offset = sign.text == "+" ? minutes : -minutes
    }
    guard isKnown else { return nil }
  }

  /// Whether the date names a zone.
  var isKnown: Bool { offset != nil || name != nil }

  /// Returns the time in UTC of a local time.
  ///
  /// - Parameter local: The local time as if it were in UTC.
  func universal(_ local: Date) -> Date {
    if let offset { return local - Double(offset) * 60 }
    guard let name else { return local }
    // The offset may differ at the time that is first guessed.
    let guess = local - Double(name.secondsFromGMT(for: local))
    return local - Double(name.secondsFromGMT(for: guess))
  }

  /// Notes a name. Unknown names mean UTC (RFC 5322 section 4.3).
  mutating func add(name text: String) {
    guard name == nil else { return }
    let key = text.uppercased()
    if let identifier = Self.identifiers[key] {
      name = TimeZone(identifier: identifier)
    } else if let minutes = Self.offsets[key] {
      name = TimeZone(secondsFromGMT: minutes * 60)
    }
  }

  /// Notes the name of a zone in several words, such as `Eastern Standard Time`.
  mutating func add(longName words: [String]) {
    guard let end = words.lastIndex(where: { $0.utf8.count == 4 && $0.lowercased() == "time" }) else { return }
    for start in words[..<end].indices.suffix(4) {
      let key = words[start..<end].map { String(decoding: $0.utf8.prefix(16), as: UTF8.self).lowercased() }
      guard let short = Self.longNames[key.joined(separator: " ")] else { continue }
      add(name: short)
      return
    }
  }

  /// Notes an identifier such as `Europe/Berlin`.
  mutating func add(identifier: String) {
    guard name == nil, identifier.utf8.count <= 64 else { return }
    name = TimeZone(identifier: identifier)
  }

  /// Returns the minutes of `2`, `02`, `0200`, `530`, or of `2` and `00`; nil if there is no such zone.
  static func minutes(_ first: String, _ second: String?) -> Int? {
    guard 1...4 ~= first.utf8.count, let value = Int(first) else { return nil }
    let hours: Int
    let minutes: Int
    if let second {
      guard first.utf8.count <= 2, second.utf8.count == 2, let value = Int(second) else { return nil }
      (hours, minutes) = (Int(first) ?? 0, value)
    } else {
      (hours, minutes) = first.utf8.count <= 2 ? (value, 0) : (value / 100, value % 100)
    }
    return hours <= 15 && minutes < 60 ? hours * 60 + minutes : nil
  }

  static func isKnown(_ text: String) -> Bool {
    text.utf8.count <= 5 && (offsets[text.uppercased()] != nil || identifiers[text.uppercased()] != nil)
  }

  /// The zone names of RFC 822, and other common names without ambiguity, in minutes east of UTC.
  private static let offsets: [String: Int] = [
    "Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360,
    "PST": -480, "PDT": -420, "AKST": -540, "AKDT": -480, "HST": -600, "AST": -240, "ADT": -180, "NST": -210,
    "NDT": -150, "BRT": -180, "BRST": -120, "ART": -180, "CLT": -240, "CLST": -180, "COT": -300, "PET": -300,
    "VET": -240, "WET": 0, "WEST": 60, "BST": 60, "CET": 60, "CEST": 120, "MET": 60, "MEST": 120, "MEZ": 60,
    "MESZ": 120, "EET": 120, "EEST": 180, "MSK": 180, "MSD": 240, "TRT": 180, "SAST": 120, "WAT": 60, "CAT": 120,
    "EAT": 180, "GST": 240, "IST": 330, "PKT": 300, "NPT": 345, "ICT": 420, "WIB": 420, "WITA": 480, "WIT": 540,
    "PHT": 480, "MYT": 480, "HKT": 480, "SGT": 480, "AWST": 480, "JST": 540, "KST": 540, "ACST": 570, "ACDT": 630,
    "AEST": 600, "AEDT": 660, "NZST": 720, "NZDT": 780,
  ]
  /// The names that change with the time of the year.
  private static let identifiers: [String: String] = [
    "ET": "America/New_York", "CT": "America/Chicago", "MT": "America/Denver", "PT": "America/Los_Angeles",
  ]

  /// The abbreviations of names in English, without "time" at the end.
  private static let longNames: [String: String] = {
    var names = [
      "greenwich mean": "GMT", "coordinated universal": "UTC", "universal": "UTC", "british summer": "BST",
      "western european": "WET", "western european standard": "WET", "western european summer": "WEST",
      "central european": "CET", "central european standard": "CET", "central european summer": "CEST",
      "eastern european": "EET", "eastern european standard": "EET", "eastern european summer": "EEST",
      "moscow standard": "MSK", "moscow": "MSK", "india standard": "IST", "indian standard": "IST",
      "pakistan standard": "PKT", "nepal": "NPT", "indochina": "ICT", "western indonesia": "WIB",
      "central indonesia": "WITA", "eastern indonesia": "WIT", "philippine standard": "PHT", "malaysia": "MYT",
      "hong kong": "HKT", "hong kong standard": "HKT", "singapore standard": "SGT", "singapore": "SGT",
      "japan standard": "JST", "korea standard": "KST", "korean standard": "KST", "gulf standard": "GST",
      "south africa standard": "SAST", "west africa": "WAT", "west africa standard": "WAT", "central africa": "CAT",
      "east africa": "EAT", "brasilia standard": "BRT", "brasilia": "BRT", "argentina standard": "ART",
      "argentina": "ART", "colombia standard": "COT", "peru standard": "PET", "venezuela": "VET",
      "australian western standard": "AWST", "australian central standard": "ACST",
      "australian central daylight": "ACDT", "australian eastern standard": "AEST",
      "australian eastern daylight": "AEDT", "new zealand standard": "NZST", "new zealand daylight": "NZDT",
      "eastern": "ET", "central": "CT", "mountain": "MT", "pacific": "PT", "hawaii aleutian standard": "HST",
      "hawaii standard": "HST", "hawaiian standard": "HST",
    ]
    let regions = [
      "eastern": "E", "central": "C", "mountain": "M", "pacific": "P", "atlantic": "A", "newfoundland": "N",
      "alaska": "AK",
    ]
    for (region, letter) in regions {
      names[region + " standard"] = letter + "ST"
      names[region + " daylight"] = letter + "DT"
    }
    return names
  }()
}
