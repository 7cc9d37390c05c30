public import BackgroundFetch
public import Foundation
import Synchronization

/// Transfers that go on whatever becomes of the app, and what it is told of them. An app that is launched again makes a
/// session of the same identifier, and is told of what has happened meanwhile.
public final class TransferSession: Sendable {
  /// The session cannot be made.
  public enum Failure: Error, Sendable, Hashable {
    /// There is one of this identifier already, in this process or in another.
    case inUse
    /// An identifier has 1...64 letters, digits, dots, hyphens and underscores of ASCII.
    case identifier
  }

  /// The shortest time between two starts of a worker that nobody has asked for, in seconds.
  static let restartPause = 60.0
  /// The longest time between two looks, in seconds.
  static let longestPause = 600.0

  /// What sets it apart from the other sessions of a store.
  public let identifier: String
  let journal: TransferJournal
  private let application: Application
  private let delegate: any TransferDelegate
  private let startWorker: @Sendable () throws -> Void
  private let held: FetchLock.Held
  private let handler = Mutex<(@Sendable () -> Void)?>(nil)
  private let task = Mutex<Task<Void, Never>?>(nil)
  private let changes: JournalChanges
  private let clock = SystemClock()
  private let holds: OriginHolds
  private let lastStart: Mutex<FetchMoment>

  /// Opens a session, and begins to tell its delegate of what has happened since the last one of this identifier.
  ///
  /// - Parameters:
  ///   - identifier: What sets it apart from the other sessions of a store.
  ///   - store: The folder of the client.
  ///   - application: Whose transfers these are; those that it begins in the background are discretionary.
  ///   - delegate: Is told, one after the other.
  ///   - startWorker: Starts a process that runs a ``TransferWorker`` for the store; see ``WorkerProcess``.
  /// - Throws: ``Failure``; ``FetchError`` with `storage`.
  public init(
    identifier: String, store: URL, application: Application, delegate: any TransferDelegate,
    startWorker: @escaping @Sendable () throws -> Void
  ) throws {
    guard identifier.wholeMatch(of: /[A-Za-z0-9._-]{1,64}/) != nil else { throw Failure.identifier }
    self.identifier = identifier
    journal = try TransferJournal(store: store)
    let path = journal.folder.appending(path: "session-\(identifier).lock").path(percentEncoded: false)
    guard let held = try FetchLock(path: path).acquire() else { throw Failure.inUse }
    self.held = held
    changes = JournalChanges(folder: journal.folder)
    holds = OriginHolds(store: store, clock: clock)
    lastStart = Mutex(clock.now)
    (self.application, self.delegate, self.startWorker) = (application, delegate, startWorker)
    // What was under way when the machine went down has no worker.
    if try transfers.contains(where: { $0.state == .running }) { try startWorker() }
    let telling = Task { [weak self, changes, clock] in
      var reported: [Int64: Int64] = [:]
      while !Task.isCancelled, let pause = self?.report(&reported) { await changes.wait(atMost: pause, clock: clock) }
    }
    task.withLock { $0 = telling }
  }

  deinit { task.withLock { $0?.cancel() } }

  /// Lets another session have the identifier. The transfers go on, and nothing more is told.
  public func invalidate() async {
    let task = task.withLock { $0.take() }
    task?.cancel()
    await task?.value
    held.release()
  }

  /// All transfers that the delegate has not been told the end of.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var transfers: [Transfer] {
    get throws { try journal.transfers(of: identifier) }
  }

  /// Adds a transfer, which is suspended until it is resumed.
  ///
  /// - Throws: ``FetchError`` with `rejected` for anything but http and https, or with `storage`.
  public func transfer(_ request: TransferRequest, description: String? = nil) throws -> TransferTask {
    var request = request
    if application.currentState != .foreground { request.isDiscretionary = true }
    return TransferTask(
      session: self, number: try journal.add(request, session: identifier, description: description).number)
  }

  /// The handle of a transfer that was added before.
  public func task(_ transfer: Transfer) -> TransferTask { TransferTask(session: self, number: transfer.number) }

  /// Runs a handler, once, when no transfer is under way and the delegate has been told of all that has happened: the
  /// system may then suspend the app that it has launched for them.
  public func whenAllIsTold(_ handler: @escaping @Sendable () -> Void) {
    self.handler.withLock { $0 = handler }
    changes.signal()
  }

  func resume(_ number: Int64) throws {
    guard try journal.resume(number) else { return }
    lastStart.withLock { $0 = clock.now }
    try startWorker()
  }

  /// Reports everything that has happened, and starts a worker again where a transfer is due and the last worker has
  /// ended.
  ///
  /// - Parameter reported: How far each transfer was at the last report.
  /// - Returns: The seconds until the next look, if the journal does not change before.
  private func report(_ reported: inout [Int64: Int64]) -> Double {
    tellEvents()
    tellProgress(&reported)
    runHandlerIfDue()
    return restartWorkerIfDue()
  }

  private func restartWorkerIfDue() -> Double {
    let now = clock.now
    let running = ((try? transfers) ?? []).filter { $0.state == .running }
    guard let due = running.map({ $0.delay(holds: holds, at: now) }).min() else { return Self.longestPause }
    let wait = max(due, Self.restartPause - now.seconds(since: lastStart.withLock { $0 }))
    guard wait <= 0 else { return min(wait, Self.longestPause) }
    // A worker that waits for a condition ends at once; the machine is asked by it and not here.
    lastStart.withLock { $0 = now }
    if (try? journal.hasWorker) == false { try? startWorker() }
    return Self.restartPause
  }

  private func tellEvents() {
    for event in (try? journal.events(of: identifier)) ?? [] {
      if Task.isCancelled { return }
      if let transfer = (try? journal.transfer(event.transfer)) ?? nil { tell(event, of: transfer) }
      // Whoever is killed in between is told again.
      try? journal.acknowledge(event)
    }
  }

  private func tell(_ event: TransferEvent, of transfer: Transfer) {
    let task = task(transfer)
    switch event.kind {
    case .resumed(let offset): delegate.transfer(task, didResumeAt: offset, expected: transfer.total)
    case .completed:
      if transfer.state == .finished, transfer.request.direction == .download {
        let file = journal.wholeFile(transfer)
        delegate.transfer(task, didFinishDownloadingTo: file)
        if transfer.request.file == nil { try? FileManager.default.removeItem(at: file) }
      }
      delegate.transfer(task, didEndAs: transfer)
    }
  }

  private func tellProgress(_ told: inout [Int64: Int64]) {
    for transfer in (try? transfers) ?? [] where transfer.state == .running {
      let before = told.updateValue(transfer.completed, forKey: transfer.number) ?? 0
      guard transfer.completed != before else { continue }
      delegate.transfer(
        task(transfer), didMove: transfer.completed - before, completed: transfer.completed, expected: transfer.total)
    }
  }

  private func runHandlerIfDue() {
    guard handler.withLock({ $0 != nil }), let transfers = try? transfers,
      !transfers.contains(where: { $0.state == .running }), (try? journal.events(of: identifier))?.isEmpty == true
    else { return }
    handler.withLock { $0.take() }?()
  }
}

/// The handle of a transfer. One that is made is suspended until it is resumed.
public struct TransferTask: Sendable {
  let session: TransferSession
  /// What sets it apart from the others of a store.
  public let number: Int64

  /// How far it has come; nil once its end has been told.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var transfer: Transfer? {
    get throws { try session.journal.transfer(number) }
  }

  /// Anything, for whoever made it; it stays when the app is gone.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var taskDescription: String? {
    get throws { try transfer?.taskDescription }
  }

  /// Says anything about it.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func setTaskDescription(_ text: String?) throws {
    try session.journal.update(number) { $0.taskDescription = text }
  }

  /// Lets it begin, or go on.
  ///
  /// - Throws: ``FetchError`` with `storage`; what starting the worker throws.
  public func resume() throws { try session.resume(number) }

  /// Stops it; what is here of it stays.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func suspend() throws { try session.journal.suspend(number) }

  /// Ends it. The delegate is told.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public func cancel() throws { try session.journal.cancel(number) }
}

/// Is told of the transfers of a session, one after the other.
public protocol TransferDelegate: Sendable {
  /// Bytes have come, or gone.
  ///
  /// - Parameters:
  ///   - bytes: How many since the last time; negative where a download had to begin anew.
  ///   - completed: How many there are now.
  ///   - expected: How many there will be, nil as long as that is not known.
  func transfer(_ task: TransferTask, didMove bytes: Int64, completed: Int64, expected: Int64?)
  /// A download goes on where it was cut off.
  func transfer(_ task: TransferTask, didResumeAt offset: Int64, expected: Int64?)
  /// A download is whole. A file without a place of its own is gone when this returns.
  func transfer(_ task: TransferTask, didFinishDownloadingTo file: URL)
  /// It is over: finished, failed or cancelled. Nothing more is told of it.
  func transfer(_ task: TransferTask, didEndAs transfer: Transfer)
}

extension TransferDelegate {
  /// Does nothing.
  public func transfer(_ task: TransferTask, didMove bytes: Int64, completed: Int64, expected: Int64?) {}
  /// Does nothing.
  public func transfer(_ task: TransferTask, didResumeAt offset: Int64, expected: Int64?) {}
  /// Does nothing.
  public func transfer(_ task: TransferTask, didFinishDownloadingTo file: URL) {}
}
