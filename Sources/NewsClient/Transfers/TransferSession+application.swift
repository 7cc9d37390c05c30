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
  ///   - startWorker: Starts a process that runs a `TransferWorker` for the store; see `WorkerProcess`.
  /// - Throws: `TransferSession.Failure`; `FetchError` with `storage`; `FetchLock.Failure`; the errors of `startWorker`.
  public convenience init(
    identifier: String, store: URL, application: ApplicationLifecycle, delegate: any TransferDelegate,
    startWorker: @escaping @Sendable () throws -> Void
  ) throws {
    try self.init(
      identifier: identifier, store: store, delegate: delegate,
      isInForeground: { application.currentState == .foreground }, startWorker: startWorker)
  }
}
