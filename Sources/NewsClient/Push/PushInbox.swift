import BackgroundFetch
import Foundation
import HTTPTransfer

/// The pushes that a process of a store passes to the running app of that store, one file each, and their reports.
///
/// A push is in one place at any time: waiting, taken by the app, or taken back by the process that has received it. The name
/// of its file says which. A push that an app has taken before it was killed is handled by the sender or by the next app.
struct PushInbox: Sendable {
  /// A push that the app has taken.
  struct Push {
    var name: String
    var payload: Data
    /// The moment from which the 30 s of the sender count; nil if the file is damaged.
    var wake: FetchInstant?
    /// Whether an app that was killed had taken it before.
    var isRetaken: Bool
  }

  /// The content of the file of a push.
  private struct Content: Codable {
    var payload: Data
    var wake: FetchInstant
  }

  /// The state of a push, as the extension of its file.
  private enum State: String {
    /// It waits for the app.
    case waiting = "push"
    /// It waits again, because an app that had taken it was killed.
    case recovered = "again.push"
    /// The app handles it.
    case taken
    /// The app has handled it. The file has the report.
    case handled = "report"
  }

  /// The age at which a report that nobody has read is removed, in seconds.
  private static let maximumReportAge = 3600.0

  private let folder: URL
  /// The lock that the running app holds.
  let appLock: FetchLock
  /// The lock that a sender holds while it launches the app.
  let launchLock: FetchLock

  init(store: URL) {
    folder = store.appending(path: "pushes", directoryHint: .isDirectory)
    appLock = FetchLock(path: store.appending(path: "app.lock").path(percentEncoded: false))
    launchLock = FetchLock(path: store.appending(path: "launch.lock").path(percentEncoded: false))
  }

  /// Whether the app is running and handles pushes.
  var isAppRunning: Bool { (try? appLock.isHeld) ?? false }

  /// Whether a sender is launching the app.
  var isAppLaunching: Bool { (try? launchLock.isHeld) ?? false }

  /// Creates the folder.
  ///
  /// - Throws: `FetchError` with `storage`.
  func prepare() throws {
    do { try folder.createPrivateFolder() } catch {
      let path = folder.path(percentEncoded: false)
      throw FetchError(.storage, "cannot use the folder \(path): \(StorageFailure.reason(error))")
    }
  }

  /// Returns the changes by which pushes arrive, from now on.
  func arrivals() -> FolderChanges { FolderChanges(folder: folder) { $0.hasSuffix("." + State.waiting.rawValue) } }

  /// Returns the changes by which reports arrive, from now on.
  func reports() -> FolderChanges { FolderChanges(folder: folder) { $0.hasSuffix("." + State.handled.rawValue) } }

  // MARK: The sender

  /// Adds a push.
  ///
  /// - Returns: The name of the push.
  /// - Throws: `FetchError` with `storage`.
  func add(_ payload: Data, wake: FetchInstant) throws -> String {
    // Names sort by time, so that pushes are handled in order.
    let time = String(Int64(Date().timeIntervalSince1970 * 1000))
    let name = String(repeating: "0", count: max(0, 16 - time.count)) + time + "-" + UUID().uuidString
    try DurableFile(url: file(name, .waiting)).write(Content(payload: payload, wake: wake))
    return name
  }

  /// Returns the report about a push, and removes it; nil if there is none yet.
  func takeReport(of name: String) -> FetchReport? {
    let file = DurableFile(url: self.file(name, .handled))
    guard file.exists else { return nil }
    defer { try? file.remove() }
    return try? file.read(FetchReport.self)
  }

  /// Takes back a push that the app has not taken.
  ///
  /// - Parameter isAppGone: Whether the app is not running, so that it cannot handle a push that it has taken either.
  /// - Returns: Whether an app had taken the push before; nil if the sender must not handle the push.
  func takeBack(_ name: String, isAppGone: Bool) -> Bool? {
    let states: [State] = isAppGone ? [.waiting, .recovered, .taken] : [.waiting, .recovered]
    return states.first { unlink(path(name, $0)) == 0 }.map { $0 != .waiting }
  }

  // MARK: The app

  /// Makes the pushes wait again that an app has taken which was killed. The caller holds the lock of the app.
  func recover() {
    for (name, state) in names() {
      switch state {
      case .taken: rename(path(name, .taken), path(name, .recovered))
      case .handled where isOld(name): try? FileManager.default.removeItem(at: file(name, .handled))
      default: break
      }
    }
  }

  /// Takes the oldest waiting push; nil if there is none.
  func take() -> Push? {
    for (name, state) in names() where state == .waiting || state == .recovered {
      // The sender may have taken it back.
      guard rename(path(name, state), path(name, .taken)) == 0 else { continue }
      // A push that cannot be read stays taken: its sender handles it when the app has ended, or the next app does.
      guard let data = try? Data(contentsOf: file(name, .taken)) else { continue }
      let content = try? JSONDecoder().decode(Content.self, from: data)
      return Push(
        name: name, payload: content?.payload ?? Data(), wake: content?.wake, isRetaken: state == .recovered)
    }
    return nil
  }

  /// Stores the report about a push that was taken.
  func finish(_ name: String, _ report: FetchReport) {
    try? DurableFile(url: file(name, .handled)).write(report)
    unlink(path(name, .taken))
  }

  // MARK: Files

  private func names() -> [(name: String, state: State)] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    return names.sorted().compactMap { file in
      let parts = file.split(separator: ".", maxSplits: 1)
      guard parts.count == 2, let state = State(rawValue: String(parts[1])) else { return nil }
      return (String(parts[0]), state)
    }
  }

  private func isOld(_ name: String) -> Bool {
    guard let milliseconds = Double(name.prefix { $0 != "-" }) else { return true }
    return Date().timeIntervalSince1970 - milliseconds / 1000 > Self.maximumReportAge
  }

  private func file(_ name: String, _ state: State) -> URL {
    folder.appending(path: "\(name).\(state.rawValue)", directoryHint: .notDirectory)
  }

  private func path(_ name: String, _ state: State) -> String { file(name, state).path(percentEncoded: false) }
}
