public import BackgroundFetch
public import Foundation
public import HTTPTransfer

extension TransferSession {
  /// Opens a session whose transfers are discretionary if the application adds them in the background.
  ///
  /// - Parameters:
  ///   - identifier: 1...64 ASCII letters, digits, dots, hyphens and underscores, unique among the sessions of a store.
  ///   - store: The folder of the client.
  ///   - application: The owner of the transfers.
  ///   - delegate: Receives the events, one after the other.
  ///   - sendsLaunchEvents: Whether the end of the transfers that are added from now on may launch the app when it is not
  ///     running.
  ///   - startWorker: Starts a process that runs a `TransferWorker` for the store; see `WorkerProcess`.
  /// - Throws: `TransferSession.Failure`; `FetchError` with `storage`; `FetchLock.Failure`; the errors of `startWorker`.
  public convenience init(
    identifier: String, store: URL, application: ApplicationLifecycle, delegate: any TransferDelegate,
    sendsLaunchEvents: Bool = true, startWorker: @escaping @Sendable () throws -> Void
  ) throws {
    try self.init(
      identifier: identifier, store: store, delegate: delegate,
      isInForeground: { application.currentState == .foreground }, sendsLaunchEvents: sendsLaunchEvents,
      startWorker: startWorker)
  }
}
