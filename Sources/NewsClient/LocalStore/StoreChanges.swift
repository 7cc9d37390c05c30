import BackgroundFetch
import Foundation
import HTTPTransfer

/// The commits to a store by any process, from now on.
///
/// Each commit sets the time of the database file, see ``LocalStore/write(_:)``, which inotify(7) signals on Linux.
/// Elsewhere the time is compared once a second, and the database is not read.
final class StoreChanges: Sendable {
  private let file: URL
  private let changes: FolderChanges

  /// Watches the folder of a store, which must exist.
  init(_ store: LocalStore) {
    file = store.file
    let name = file.lastPathComponent
    changes = FolderChanges(folder: file.deletingLastPathComponent()) { $0 == name }
  }

  /// Waits for a commit since the last wait, until the time is over or the task is cancelled.
  ///
  /// - Parameters:
  ///   - seconds: The maximum wait.
  ///   - clock: The clock that measures it.
  func wait(upTo seconds: Double, clock: any FetchClock) async {
    #if os(Linux)
      await changes.wait(upTo: seconds, clock: clock)
    #else
      let (before, end) = (modified, clock.now.uptime + seconds)
      while modified == before, clock.now.uptime < end, !Task.isCancelled {
        await changes.wait(upTo: end - clock.now.uptime, clock: clock)
      }
    #endif
  }

  /// Ends the present wait, or the next one.
  func signal() { changes.signal() }

  #if !os(Linux)
    private var modified: Date? {
      let path = file.path(percentEncoded: false)
      return (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
    }
  #endif
}
