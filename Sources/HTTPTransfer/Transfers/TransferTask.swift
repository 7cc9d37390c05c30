/// The handle of a transfer, which is suspended until it is resumed. The counterpart of `URLSessionTask`.
///
///     let upload = TransferRequest(
///       upload: URL(filePath: "/tmp/photo.jpg"), to: URL(string: "https://news.example/photos")!)
///     let task = try session.transfer(upload)
///     try task.setTaskDescription("photo")
///     try task.resume()
///     if let transfer = try task.transfer { print(transfer.state, transfer.completed) }
public struct TransferTask: Sendable {
  let session: TransferSession
  /// The number of the transfer, unique within a store.
  public let number: Int64

  /// The transfer and its progress; nil once the delegate has received its end.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var transfer: Transfer? {
    get throws { try session.journal.transfer(number) }
  }

  /// The description for the app's own use, which survives the end of the app.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var taskDescription: String? {
    get throws { try transfer?.taskDescription }
  }

  /// Sets the description.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func setTaskDescription(_ text: String?) throws {
    try session.journal.update(number) { $0.taskDescription = text }
  }

  /// Starts or continues the transfer.
  ///
  /// - Throws: ``FetchError`` with `storage`, or with `rejected` as in ``TransferJournal/resume(_:at:)``; the errors of
  ///   starting the worker.
  public func resume() throws { try session.resume(number) }

  /// Suspends the transfer. The received part is kept.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func suspend() throws { try session.journal.suspend(number) }

  /// Cancels the transfer. The delegate receives its end.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func cancel() throws { try session.journal.cancel(number) }
}
