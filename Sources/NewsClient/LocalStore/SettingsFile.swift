import BackgroundFetch
import Foundation
import HTTPTransfer

/// The user's settings, learned habits and read marks, in small JSON files beside the store. A damaged store is therefore only
/// a lost cache, which is fetched again.
///
/// The store has its own copy of them, which is used while it is intact. Writers hold the store's write lock, so that
/// two processes do not overwrite each other's changes.
struct SettingsFile: Sendable {
  /// The user's choices.
  struct Contents: Codable, Equatable {
    /// The followed feed; nil before a server has responded or the user has set an interval.
    var feed: FollowedFeed?
    /// The minimum interval between wakes; nil before the user has set it.
    var interval: FetchInterval?
    /// The choices about notifications; nil before the user has made any.
    var notifications: NotificationOptions?
    /// The program and the arguments that launch the app; nil if the user does not allow that.
    var launch: [String]?

    /// The stored names of the properties.
    private enum CodingKeys: String, CodingKey {
      case feed = "source"
      case interval, launch, notifications
    }

    init() {}

    /// Decodes each field separately. A field of a form that this build does not know does not affect the others.
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      feed = try? container.decodeIfPresent(FollowedFeed.self, forKey: .feed)
      interval = try? container.decodeIfPresent(FetchInterval.self, forKey: .interval)
      notifications = try? container.decodeIfPresent(NotificationOptions.self, forKey: .notifications)
      launch = try? container.decodeIfPresent([String].self, forKey: .launch)
    }
  }

  /// The age at which the copy of the schedule is renewed, in seconds.
  private static let maximumScheduleAge = 86_400.0

  private let file: DurableFile
  private let habits: DurableFile
  private let marks: DurableFile
  private let log: @Sendable (String) -> Void

  init(folder: URL, log: @escaping @Sendable (String) -> Void) {
    file = DurableFile(url: folder.appending(path: "settings.json", directoryHint: .notDirectory))
    habits = DurableFile(url: folder.appending(path: "habits.json", directoryHint: .notDirectory))
    marks = DurableFile(url: folder.appending(path: "read.json", directoryHint: .notDirectory))
    self.log = log
  }

  /// Whether the settings file exists.
  var exists: Bool { file.exists }

  /// Whether the settings file is missing or damaged.
  var isLost: Bool {
    do { return try file.read(Contents.self) == nil && !exists } catch { return error is DecodingError }
  }

  /// The settings; empty if the file is missing or damaged.
  ///
  /// - Throws: `FetchError` with `storage` if the file cannot be read.
  var contents: Contents {
    get throws { try intact(file, Contents.self) ?? Contents() }
  }

  /// The copy of the schedule; nil if it is missing or damaged.
  ///
  /// - Throws: `FetchError` with `storage` if the file cannot be read.
  var schedule: FetchScheduler? {
    get throws { try intact(habits, FetchScheduler.self) }
  }

  /// Changes the settings. A crash leaves either the old or the new file. A damaged file is renamed.
  ///
  /// - Throws: `FetchError` with `storage`.
  func update(_ change: (inout Contents) -> Void) throws {
    let before = try repaired(file, Contents.self, "the settings") ?? Contents()
    var after = before
    change(&after)
    if after != before { try file.write(after) }
  }

  /// Copies the schedule, which takes about 9 KB. A damaged copy is renamed.
  ///
  /// - Throws: `FetchError` with `storage`.
  func save(_ schedule: FetchScheduler) throws {
    // The copy is replaced in any case.
    _ = try? repaired(habits, FetchScheduler.self, "the learned habits")
    try habits.write(schedule)
  }

  /// Returns the ids of items that the user has read, the oldest mark first, for a store that has lost them. A damaged file
  /// is renamed.
  ///
  /// - Throws: `FetchError` with `storage` if the file cannot be read.
  func restoredReadIDs() throws -> [UUID] { try repaired(marks, [UUID].self, "the read marks") ?? [] }

  /// Copies the ids of items that the user has read.
  ///
  /// - Throws: `FetchError` with `storage`.
  func saveReadIDs(_ ids: [UUID]) throws { try marks.write(ids) }

  /// Whether the copy of the schedule is missing or older than a day.
  var isScheduleOld: Bool {
    guard let date = habits.modificationDate else { return true }
    return abs(Date().timeIntervalSince(date)) > Self.maximumScheduleAge
  }

  private func intact<Value: Decodable>(_ file: DurableFile, _ type: Value.Type) throws -> Value? {
    do { return try file.read(type) } catch is DecodingError { return nil }
  }

  /// Reads a file, and renames it if it is damaged. The caller holds the store's write lock: otherwise another process may
  /// have replaced the damaged file by a good one meanwhile.
  private func repaired<Value: Decodable>(_ file: DurableFile, _ type: Value.Type, _ name: String) throws -> Value? {
    do { return try file.read(type) } catch is DecodingError {
      let path = file.url.path(percentEncoded: false)
      let newPath = file.renameDamaged()
      log("\(name) in \(path) cannot be read\(newPath.map { "; the file was renamed to \($0)" } ?? "")")
      return nil
    }
  }
}
