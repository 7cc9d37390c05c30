import BackgroundFetch
import Foundation
import GRDB
import HTTPTransfer

extension NewsFetcher {
  /// The pause before the desktop is asked again for taps, in seconds.
  private static let tapRetryInterval = 900.0

  /// Passes the taps on notifications of this store to the app, until the task is cancelled: to the observers of
  /// ``activations``, or to those of another process that is the app of the store. If no app runs, the tap launches it if the
  /// user allows that, see ``setLaunchCommand(_:)``; its ``LaunchOptions`` have the tap, and its observers receive it.
  ///
  /// ``run(followsEvents:_:)`` and ``watch(_:)`` include this method. On Linux some process of the store must be alive for
  /// taps, such as `tidings-fetch watch`.
  ///
  ///     let observation = news.activations.add { print($0.itemID?.uuidString ?? $0.identifier, $0.action) }
  ///     let receiving = Task { await news.receiveActivations() }
  public func receiveActivations() async { await receiveActivations(retryingAfter: Self.tapRetryInterval) }

  /// Passes the taps on, as ``receiveActivations()`` does.
  ///
  /// - Parameter pause: The pause before the desktop is asked again for taps, in seconds.
  package func receiveActivations(retryingAfter pause: Double) async {
    deliverActivations()
    guard let presenter = configuration.presenter else { return }
    while !Task.isCancelled {
      for await tap in presenter.taps() {
        do {
          let activation = try store.write { try NotificationJournal($0).record(tap) }
          if let activation { deliver(activation) }
        } catch {
          log("cannot store a tap on a notification: \(error)")
        }
      }
      // The session has no bus, or its bus has ended, whatever the clock of the schedule says.
      try? await SystemClock().sleep(for: .seconds(pause))
    }
  }

  /// Notifies observers of the taps that processes of the store have recorded.
  func deliverActivations() {
    guard !activations.isEmpty else { return }
    do {
      guard try store.read({ try NotificationJournal($0).hasActivations }) else { return }
      for activation in try store.write({ try NotificationJournal($0).takeActivations() }) {
        activations.notify(activation)
      }
    } catch {
      log("cannot read the taps on notifications: \(error)")
    }
  }

  /// Passes a recorded tap to the app.
  private func deliver(_ activation: NotificationActivation) {
    if !activations.isEmpty { return deliverActivations() }
    #if os(Linux) || os(macOS)
      let lock = PushInbox(store: configuration.folder).appLock
      // The commit of the tap has woken an app that runs in another process.
      if (try? lock.isHeld) == true, lock.holder != getpid() { return }
      guard let launcher = ApplicationLauncher(command: launchCommand, store: configuration.folder), !launcher.isRunning
      else { return }
      do {
        var options = LaunchOptions(reason: .notification, store: configuration.folder)
        options.activation = activation
        _ = try launcher.launch(options)
      } catch {
        log("cannot launch the app: \(error)")
      }
    #endif
  }
}

/// The taps of the user.
extension NotificationJournal {
  /// The maximum number of taps that wait for the app.
  private static let maximumActivations = 20

  static func addActivations(_ db: Database) throws {
    try db.execute(sql: "CREATE TABLE activations (number INTEGER PRIMARY KEY AUTOINCREMENT, json BLOB NOT NULL)")
  }

  /// Whether taps wait for the app.
  var hasActivations: Bool {
    get throws { try db.exists("activations") }
  }

  /// Records a tap, unless another process has recorded it or the notification is not one of this store.
  func record(_ tap: NotificationTap) throws -> NotificationActivation? {
    let identifier = try String.fetchOne(
      db, sql: "SELECT identifier FROM notifications WHERE handle = ?", arguments: [tap.handle])
    guard let identifier else { return nil }
    // The desktop closes a notification after a tap.
    try db.execute("UPDATE notifications SET handle = NULL, is_read = 1 WHERE identifier = ?", identifier)
    let activation = NotificationActivation(identifier: identifier, action: tap.action, token: tap.token)
    try db.execute("INSERT INTO activations (json) VALUES (?)", try JSONEncoder().encode(activation))
    try db.trim("activations", to: Self.maximumActivations)
    return activation
  }

  /// Returns the taps that wait for the app, and forgets them.
  func takeActivations() throws -> [NotificationActivation] {
    let activations: [NotificationActivation] = try db.values("SELECT json FROM activations ORDER BY number")
    try db.execute(sql: "DELETE FROM activations")
    return activations
  }
}
