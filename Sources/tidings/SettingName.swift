import News

/// The name of a setting in the environment and in settings files.
package enum SettingName: String, CaseIterable {
  case databaseURL = "DATABASE_URL"
  case databaseURLFile = "DATABASE_URL_FILE"
  case databaseReadURL = "DATABASE_READ_URL"
  case databaseReadURLFile = "DATABASE_READ_URL_FILE"
  case addressRate = "TIDINGS_ADDRESS_RATE"
  case allowPlainHTTP = "TIDINGS_ALLOW_PLAIN_HTTP"
  case allowedNetworks = "TIDINGS_ALLOWED_NETWORKS"
  case allowUnsafeDurability = "TIDINGS_ALLOW_UNSAFE_DURABILITY"
  case apnsKeyFile = "TIDINGS_APNS_KEY_FILE"
  case apnsKeyID = "TIDINGS_APNS_KEY_ID"
  case apnsTeamID = "TIDINGS_APNS_TEAM_ID"
  case apnsURL = "TIDINGS_APNS_URL"
  case batchLimit = "TIDINGS_BATCH_LIMIT"
  case cacheSize = "TIDINGS_CACHE_SIZE"
  case console = "TIDINGS_CONSOLE"
  case deviceLimit = "TIDINGS_DEVICE_LIMIT"
  case deviceRate = "TIDINGS_DEVICE_RATE"
  case fcmCredentials = "TIDINGS_FCM_CREDENTIALS"
  case fcmURL = "TIDINGS_FCM_URL"
  case feedContent = "TIDINGS_FEED_CONTENT"
  case feedItems = "TIDINGS_FEED_ITEMS"
  case feedPasswordKey = "TIDINGS_FEED_PASSWORD_KEY"
  case feedPasswordKeyFile = "TIDINGS_FEED_PASSWORD_KEY_FILE"
  case feedTitle = "TIDINGS_FEED_TITLE"
  case forwardedField = "TIDINGS_FORWARDED_FIELD"
  case historyKeep = "TIDINGS_HISTORY_KEEP"
  case host = "TIDINGS_HOST"
  case hubURL = "TIDINGS_HUB_URL"
  case keyRate = "TIDINGS_KEY_RATE"
  case language = "TIDINGS_LANGUAGE"
  case logFormat = "TIDINGS_LOG_FORMAT"
  case logLevel = "TIDINGS_LOG_LEVEL"
  case mediaDirectory = "TIDINGS_MEDIA_DIRECTORY"
  case mediaLimit = "TIDINGS_MEDIA_LIMIT"
  case mediaUnusedAfter = "TIDINGS_MEDIA_UNUSED_AFTER"
  case migrations = "TIDINGS_MIGRATIONS"
  case openAPI = "TIDINGS_OPENAPI"
  case poolSize = "TIDINGS_POOL_SIZE"
  case port = "TIDINGS_PORT"
  case preparedStatements = "TIDINGS_PREPARED_STATEMENTS"
  case publicURL = "TIDINGS_PUBLIC_URL"
  case purgeAfter = "TIDINGS_PURGE_AFTER"
  case pushBudget = "TIDINGS_PUSH_BUDGET"
  case pushCAFile = "TIDINGS_PUSH_CA_FILE"
  case pushOrigins = "TIDINGS_PUSH_ORIGINS"
  case pushReportRate = "TIDINGS_PUSH_REPORT_RATE"
  case pushWindow = "TIDINGS_PUSH_WINDOW"
  case readerPages = "TIDINGS_READER_PAGES"
  case sharedMaxAge = "TIDINGS_SHARED_MAX_AGE"
  case slowRequest = "TIDINGS_SLOW_REQUEST"
  case staleLimit = "TIDINGS_STALE_LIMIT"
  case trustedProxies = "TIDINGS_TRUSTED_PROXIES"
  case vapidKeyFile = "TIDINGS_VAPID_KEY_FILE"
  case vapidSubject = "TIDINGS_VAPID_SUBJECT"

  /// The maximum number of edits between a misspelt name and the intended one.
  private static let typingErrors = 2

  /// Names, and prefixes of names, that other programs set in the environment: `tidings-fetch`, the scripts of the
  /// project, and Kubernetes for a service called `tidings`.
  private static let othersPrefixes = [
    "TIDINGS_SERVER", "TIDINGS_STORE", "TIDINGS_MEDIA", "TIDINGS_CLUSTER_", "TIDINGS_TEST_", "TIDINGS_WITH_CLUSTER",
    "TIDINGS_SERVICE_", "TIDINGS_PORT_",
  ]

  /// A name that resembles a setting but is not one.
  struct Unknown: Equatable {
    let name: String
    /// The nearest known name.
    let nearest: SettingName
    /// Whether the name is probably a misspelling of the nearest one.
    let isMisspelt: Bool

    /// The sentence `TIDINGS_PROT is not a setting; the nearest name is TIDINGS_PORT`.
    var description: String { "\(name.terminalSafe) is not a setting; the nearest name is \(nearest.rawValue)" }
  }

  /// Checks a name from the environment.
  ///
  /// - Returns: nil for settings and for names of other programs.
  static func unknown(inEnvironment name: String) -> Unknown? {
    guard name.hasPrefix("TIDINGS_"), let unknown = compare(name) else { return nil }
    let isOthers = othersPrefixes.contains { name == $0 || $0.hasSuffix("_") && name.hasPrefix($0) }
    return isOthers ? nil : unknown
  }

  /// Checks a name from a settings file, which may also have names for libpq and other libraries.
  ///
  /// - Returns: nil for settings and for names that do not resemble one.
  static func unknown(inFile name: String) -> Unknown? {
    guard let unknown = compare(name) else { return nil }
    return unknown.isMisspelt || name.hasPrefix("TIDINGS_") || name.hasPrefix("DATABASE_") ? unknown : nil
  }

  /// Compares a name with the settings.
  ///
  /// - Returns: nil for a setting.
  private static func compare(_ name: String) -> Unknown? {
    if SettingName(rawValue: name) != nil { return nil }
    // The comparison takes time proportional to the length.
    let letters = Array(name.utf8.prefix(64))
    let distances = allCases.map { (name: $0, edits: distance(letters, Array($0.rawValue.utf8))) }
    guard let nearest = distances.min(by: { $0.edits < $1.edits }) else { return nil }
    return Unknown(name: name, nearest: nearest.name, isMisspelt: nearest.edits <= typingErrors)
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
