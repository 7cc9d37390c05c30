internal import Foundation

/// The names in dates in all languages of CLDR. They are compared without case, accents and punctuation.
package enum DateNames {
  /// Returns the letters of a name in lower case, without the accents of Latin, Cyrillic and Greek.
  static func key(_ name: String) -> String {
    let letters = name.lowercased().decomposedStringWithCompatibilityMapping.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
      case .nonspacingMark, .spacingMark, .enclosingMark: !(0x300...0x36F ~= scalar.value)
      default: false
      }
    }
    return String(String.UnicodeScalarView(letters))
  }

  /// Returns the months, 1...12, that a name may mean. A name that has several meanings has that of the given language,
  /// or else that of English or of nearly all languages.
  ///
  /// - Parameters:
  ///   - key: The name as a key.
  ///   - language: A BCP 47 language tag.
  package static func months(_ key: String, language: String?) -> Set<Int> {
    let dependent = dependentMonths[key] ?? []
    let primary = language?.split(separator: "-").first.map { Substring($0.lowercased()) }
    if let primary, let own = dependent.first(where: { $0.languages.contains(primary) }) { return [own.month] }
    if let month = months[key] { return [month] }
    if !dependent.isEmpty { return Set(dependent.map(\.month)) }
    if let month = abbreviatedMonth(key) { return [month] }
    // In Hebrew, "in" is a prefix.
    return key.hasPrefix("ב") ? Set([months[String(key.dropFirst())]].compactMap { $0 }) : []
  }

  /// Returns the weekdays, 0 for Monday to 6 for Sunday, that a name means in any language.
  package static func weekdays(_ key: String) -> Set<Int> { weekdays[key] ?? [] }

  /// Returns 0 for a name of the first half of the day, 1 for one of the second half.
  package static func half(_ key: String) -> Int? { halves[key] }

  /// Returns the first part of a numeric date in a language or region: `y`, `m` or `d`.
  ///
  /// - Parameter language: A BCP 47 language tag.
  package static func order(of language: String) -> Character {
    let parts = language.split(separator: "-")
    let region = parts.dropFirst().first { $0.count == 2 }
    let tags = [language, region.map { "\(parts[0])-\($0)" }, parts.first.map { String($0) }]
    return tags.lazy.compactMap { $0.flatMap { firstParts[$0] } }.first ?? "d"
  }

  /// Finds the month by the start of a name, at least three letters, if it is the start of no other month's name.
  private static func abbreviatedMonth(_ key: String) -> Int? {
    guard key.unicodeScalars.count >= 3 else { return nil }
    var (low, high) = (0, sortedMonths.count)
    while low < high {
      let middle = (low + high) / 2
      if sortedMonths[middle].name < key { low = middle + 1 } else { high = middle }
    }
    let matching = sortedMonths[low...].prefix { $0.name.hasPrefix(key) }.map(\.month)
    return Set(matching).count == 1 ? matching.first : nil
  }

  private static let months: [String: Int] = {
    var months: [String: Int] = [:]
    for (index, names) in monthNames.enumerated() {
      for name in names.split(separator: " ") { months[String(name)] = index + 1 }
    }
    return months
  }()

  private static let sortedMonths = months.map { (name: $0.key, month: $0.value) }.sorted { $0.name < $1.name }

  private static let dependentMonths: [String: [(month: Int, languages: [Substring])]] = {
    var months: [String: [(month: Int, languages: [Substring])]] = [:]
    for entry in dependentNames.split(separator: " ") {
      let parts = entry.split(separator: "=")
      months[String(parts[0])] = parts[1].split(separator: ";").map { meaning in
        let pair = meaning.split(separator: ":")
        return (Int(pair[0]) ?? 0, pair[1].split(separator: ","))
      }
    }
    return months
  }()

  private static let weekdays: [String: Set<Int>] = {
    var weekdays: [String: Set<Int>] = [:]
    for (index, names) in weekdayNames.enumerated() {
      for name in names.split(separator: " ") { weekdays[String(name), default: []].insert(index) }
    }
    return weekdays
  }()

  private static let halves: [String: Int] = {
    var halves = ["凌晨": 0, "清晨": 0, "早上": 0, "中午": 1, "傍晚": 1, "晚上": 1]
    for (index, names) in halfNames.enumerated() {
      for name in names.split(separator: " ") { halves[String(name)] = index }
    }
    return halves
  }()

  private static let firstParts: [String: Character] = {
    var parts: [String: Character] = [:]
    for entry in orders.split(separator: " ") {
      let pair = entry.split(separator: "=")
      parts[String(pair[0])] = pair[1].first
    }
    return parts
  }()
}
