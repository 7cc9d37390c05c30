import BackgroundFetch
import Foundation
import HTTPTransfer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The user's settings and learned habits, in two small JSON files beside the store. A damaged store is therefore only
/// a lost cache, which is fetched again.
///
/// The store has its own copy of both, which is used while it is intact. Writers hold the store's write lock, so that
/// two processes do not overwrite each other's changes.
struct SettingsFile: Sendable {
  /// The user's choices.
  struct Contents: Codable, Equatable {
    /// The followed feed; nil before a server has responded or the user has set an interval.
    var feed: FollowedFeed?
    /// The minimum interval between wakes; nil before the user has set it.
    var interval: FetchInterval?

    /// The stored names of the properties.
    private enum CodingKeys: String, CodingKey {
      case feed = "source"
      case interval
    }

    init() {}

    /// Decodes each field separately. A field of a form that this build does not know does not affect the others.
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      feed = try? container.decodeIfPresent(FollowedFeed.self, forKey: .feed)
      interval = try? container.decodeIfPresent(FetchInterval.self, forKey: .interval)
    }
  }

  /// The age at which the copy of the schedule is renewed, in seconds.
  private static let maximumScheduleAge = 86_400.0

  private let file: URL
  private let habits: URL
  private let log: @Sendable (String) -> Void

  init(folder: URL, log: @escaping @Sendable (String) -> Void) {
    file = folder.appending(path: "settings.json", directoryHint: .notDirectory)
    habits = folder.appending(path: "habits.json", directoryHint: .notDirectory)
    self.log = log
  }

  /// Whether the settings file exists.
  var exists: Bool { file.exists }

  /// The settings; empty if the file is missing. A damaged file is renamed.
  var contents: Contents {
    guard let data = try? Data(contentsOf: file) else { return Contents() }
    if let contents = try? JSONDecoder().decode(Contents.self, from: data) { return contents }
    renameDamaged(file, "the settings")
    return Contents()
  }

  /// The copy of the schedule; nil if there is none. A damaged file is renamed.
  var schedule: FetchScheduler? {
    guard let data = try? Data(contentsOf: habits) else { return nil }
    if let schedule = try? JSONDecoder().decode(FetchScheduler.self, from: data) { return schedule }
    renameDamaged(habits, "the learned habits")
    return nil
  }

  /// Changes the settings. A crash leaves either the old or the new file.
  ///
  /// - Throws: `FetchError` with `storage`.
  func update(_ change: (inout Contents) -> Void) throws {
    let before = contents
    var after = before
    change(&after)
    if after != before { try write(after, to: file) }
  }

  /// Copies the schedule, which takes about 9 KB.
  ///
  /// - Throws: `FetchError` with `storage`.
  func save(_ schedule: FetchScheduler) throws { try write(schedule, to: habits) }

  /// Whether the copy of the schedule is missing or older than a day.
  var isScheduleOld: Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: habits.path(percentEncoded: false))
    guard let date = attributes?[.modificationDate] as? Date else { return true }
    return abs(Date().timeIntervalSince(date)) > Self.maximumScheduleAge
  }

  private func write(_ value: some Encodable, to file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    let path = file.path(percentEncoded: false)
    let temporary = path + ".new"
    do {
      let data = try encoder.encode(value)
      try data.write(to: URL(filePath: temporary))
      let handle = try FileHandle(forUpdating: URL(filePath: temporary))
      // The content reaches the disk before the name. A power loss therefore leaves the old or the new file.
      try handle.synchronize()
      try handle.close()
    } catch {
      unlink(temporary)
      throw FetchError(.storage, "cannot write \(path): \(StorageFailure.reason(error)); the settings are unchanged")
    }
    guard rename(temporary, path) == 0 else {
      let reason = StorageFailure.system(errno)
      unlink(temporary)
      throw FetchError(.storage, "cannot write \(path): \(reason); the settings are unchanged")
    }
  }

  private func renameDamaged(_ file: URL, _ name: String) {
    let path = file.path(percentEncoded: false)
    let newPath = path + ".broken-\(Int(Date().timeIntervalSince1970))"
    let isMoved = rename(path, newPath) == 0
    log("\(name) in \(path) cannot be read\(isMoved ? "; the file was renamed to \(newPath)" : "")")
  }
}
