import BackgroundFetch
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The user's settings and learned habits, in two small JSON files beside the store: a damaged store is only a cache that
/// is fetched again.
///
/// The store has its own copy of both, which is read as long as it is good. Writers hold the store's write lock, so that
/// of two processes neither overwrites the other's change.
struct SettingsFile: Sendable {
  /// What the user has chosen.
  struct Contents: Codable, Equatable {
    /// What is followed; nil before a server has answered or the user has set an interval.
    var source: Source?
    /// How often the user wants wakes; nil before that was set.
    var interval: FetchInterval?

    init() {}

    /// Reads each field by itself: one of a form that this build does not know loses no other.
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      source = try? container.decodeIfPresent(Source.self, forKey: .source)
      interval = try? container.decodeIfPresent(FetchInterval.self, forKey: .interval)
    }
  }

  /// After so many seconds what the schedule has learned is copied again.
  private static let oldest = 86_400.0

  private let file: URL
  private let habits: URL
  private let log: @Sendable (String) -> Void

  init(folder: URL, log: @escaping @Sendable (String) -> Void) {
    file = folder.appending(path: "settings.json", directoryHint: .notDirectory)
    habits = folder.appending(path: "habits.json", directoryHint: .notDirectory)
    self.log = log
  }

  /// Whether there are settings.
  var exists: Bool { file.exists }

  /// The settings; none where the file is missing. A damaged file is renamed aside.
  var contents: Contents {
    guard let data = try? Data(contentsOf: file) else { return Contents() }
    if let contents = try? JSONDecoder().decode(Contents.self, from: data) { return contents }
    setAside(file, "the settings")
    return Contents()
  }

  /// The schedule as it was copied last; nil where there is none. A damaged file is renamed aside.
  var schedule: FetchScheduler? {
    guard let data = try? Data(contentsOf: habits) else { return nil }
    if let schedule = try? JSONDecoder().decode(FetchScheduler.self, from: data) { return schedule }
    setAside(habits, "the learned habits")
    return nil
  }

  /// Changes the settings; the file is as before or as after, whatever ends the process.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  func update(_ change: (inout Contents) -> Void) throws {
    let before = contents
    var after = before
    change(&after)
    if after != before { try write(after, to: file) }
  }

  /// Copies the schedule, which has about 9 KB.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  func save(_ schedule: FetchScheduler) throws { try write(schedule, to: habits) }

  /// Whether the copy of the schedule is missing or a day old.
  var isScheduleOld: Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: habits.path(percentEncoded: false))
    guard let date = attributes?[.modificationDate] as? Date else { return true }
    return abs(Date().timeIntervalSince(date)) > Self.oldest
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
      // The content before the name: after a loss of power the file is the old one or the new one.
      try handle.synchronize()
      try handle.close()
    } catch {
      unlink(temporary)
      throw FetchError(.storage, "cannot write \(path): \(StorageFailure.reason(error)); the settings are as before")
    }
    guard rename(temporary, path) == 0 else {
      let reason = StorageFailure.system(errno)
      unlink(temporary)
      throw FetchError(.storage, "cannot write \(path): \(reason); the settings are as before")
    }
  }

  private func setAside(_ file: URL, _ name: String) {
    let path = file.path(percentEncoded: false)
    let aside = path + ".broken-\(Int(Date().timeIntervalSince1970))"
    let isMoved = rename(path, aside) == 0
    log("\(name) in \(path) cannot be read\(isMoved ? "; the file was renamed to \(aside)" : "")")
  }
}
