import Logging
import NewsStore

/// The checks of `tidings doctor` on followed feeds.
struct FeedChecks {
  let settings: Settings
  let logger: Logger

  /// Returns whether the passwords of feeds can be read; nil if there are neither passwords nor a key, or if the database cannot
  /// be read, which another finding says.
  func finding() async -> Finding? {
    var counts = (stored: 0, unreadable: 0)
    do {
      try await settings.withStore(logger) { counts = try await $0.countFeedPasswords() }
    } catch {
      return nil
    }
    let name = SettingTable.shared.feedPasswordKey.name
    if counts.stored == 0 {
      return settings.feedPasswordKey == nil ? nil : .ok("feeds", "no followed feed has a password")
    }
    let passwords = "\(counted(counts.stored, "password")) of followed feeds"
    if settings.feedPasswordKey == nil {
      return .problem(
        "feeds",
        "there is no key for \(passwords): set \(name) to the key with which they were stored, or enter them anew")
    }
    return counts.unreadable == 0
      ? .ok("feeds", "the key opens \(passwords)")
      : .problem(
        "feeds",
        "the key does not open \(counts.unreadable) of \(passwords): set \(name) to the key with which they were stored, or "
          + "enter them anew")
  }
}
