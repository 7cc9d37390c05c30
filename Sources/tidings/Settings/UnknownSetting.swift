import News

/// A name that resembles a setting but is not one.
package struct UnknownSetting: Equatable, Sendable {
  let name: String
  /// The nearest known name.
  let nearest: String
  /// Whether the name is probably a misspelling of the nearest one.
  let isMisspelt: Bool

  /// The sentence `NAME is not a setting; the nearest name is TIDINGS_PORT`.
  var description: String { "\(name.terminalSafe) is not a setting; the nearest name is \(nearest)" }

  /// The maximum number of edits between a misspelt name and the intended one.
  private static let typingErrors = 2

  /// Names, and prefixes of names, that other programs set in the environment: `tidings-fetch`, the scripts of the
  /// project, and Kubernetes for a service called `tidings`.
  private static let othersPrefixes = [
    "TIDINGS_FETCH_", "TIDINGS_SERVER", "TIDINGS_STORE", "TIDINGS_MEDIA", "TIDINGS_CLUSTER_", "TIDINGS_TEST_",
    "TIDINGS_WITH_CLUSTER", "TIDINGS_SERVICE_", "TIDINGS_PORT_",
  ]

  /// Checks a name from the environment; nil for settings and for names of other programs.
  package init?(inEnvironment name: String) {
    let isOthers = Self.othersPrefixes.contains { name == $0 || $0.hasSuffix("_") && name.hasPrefix($0) }
    guard name.hasPrefix("TIDINGS_"), !isOthers else { return nil }
    self.init(name)
  }

  /// Checks a name from a settings file, which may also have names for libpq and other libraries; nil for settings and for
  /// names that do not resemble one.
  init?(inFile name: String) {
    self.init(name)
    guard isMisspelt || name.hasPrefix("TIDINGS_") || name.hasPrefix("DATABASE_") else { return nil }
  }

  /// Compares a name with the settings; nil for a setting.
  private init?(_ name: String) {
    if SettingTable.names.contains(name) { return nil }
    // The comparison takes time proportional to the length.
    let letters = Array(name.utf8.prefix(64))
    let distances = SettingTable.names.map { (name: $0, edits: Self.distance(letters, Array($0.utf8))) }
    guard let nearest = distances.min(by: { $0.edits < $1.edits }) else { return nil }
    (self.name, self.nearest, isMisspelt) = (name, nearest.name, nearest.edits <= Self.typingErrors)
  }

  /// Returns the edit distance: the number of letters to insert, delete, replace or swap with their neighbour (optimal
  /// string alignment).
  private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var before: [Int] = []
    var row = Array(0...second.count)
    for i in first.indices {
      var next = [i + 1]
      for j in second.indices {
        let isEqual = first[i] == second[j]
        var edits = min(row[j + 1] + 1, next[j] + 1, row[j] + (isEqual ? 0 : 1))
        if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] { edits = min(edits, before[j - 1] + 1) }
        next.append(edits)
      }
      (before, row) = (row, next)
    }
    return row[second.count]
  }
}
