public import Foundation
import Synchronization

/// Transfers that continue when the app is suspended, crashes or is killed, and their events. A relaunched app opens a
/// session with the same identifier, and receives the events since the last one.
///
/// The counterpart of a `URLSession` with `URLSessionConfiguration.background(withIdentifier:)`.
///
///     let session = try TransferSession(
///       identifier: "media", store: folder, delegate: delegate, startWorker: { try worker.start() })
///     let request = TransferRequest(download: URL(string: "https://news.example/video.mp4")!)
///     try session.transfer(request, description: "video").resume()
///     try session.onAllEventsDelivered { print("the delegate has received all events") }
public final class TransferSession: Sendable {
  /// The reason why a session cannot be opened.
  ///
  ///     do {
  ///       _ = try TransferSession(
  ///         identifier: "media", store: folder, delegate: delegate, startWorker: { try worker.start() })
  ///     } catch TransferSession.Failure.inUse {
  ///       print("the app is already running")
  ///     }
  public enum Failure: Error, Sendable, Hashable {
    /// Another session, in this process or in another, has the same identifier.
    case inUse
    /// The identifier is not 1...64 ASCII letters, digits, dots, hyphens and underscores.
    case identifier
    /// An earlier handler of ``onAllEventsDelivered(_:)`` has not been called yet.
    case hasHandler
  }

  /// The minimum interval between two automatic starts of a worker, in seconds.
  static let restartInterval = 60.0
  /// The maximum interval between two checks, in seconds, and between two starts of a worker for transfers that wait for
  /// power or for a network.
  static let maximumCheckInterval = 600.0

  /// The identifier, unique among the sessions of a store.
  public let identifier: String
  let journal: TransferJournal
  private let isInForeground: @Sendable () -> Bool
  private let sendsLaunchEvents: Bool
  private let delegate: any TransferDelegate
  private let startWorker: @Sendable () throws -> Void
  private let held: FetchLock.Handle
  private let handler = Mutex<(@Sendable () -> Void)?>(nil)
  private let task = Mutex<Task<Void, Never>?>(nil)
  private let changes: FolderChanges
  private let clock: any FetchClock
  private let retryAfterStore: RetryAfterStore
  private let lastStart: Mutex<FetchInstant>

  /// Opens a session, and begins to report the events since the last session with this identifier.
  ///
  /// - Parameters:
  ///   - identifier: 1...64 ASCII letters, digits, dots, hyphens and underscores, unique among the sessions of a store.
  ///   - store: The folder of the client.
  ///   - delegate: Receives the events, one after the other.
  ///   - isInForeground: Returns whether the app is in the foreground. Transfers that are added in the background are
  ///     discretionary.
  ///   - sendsLaunchEvents: Whether the end of the transfers that are added from now on may launch the app when it is not
  ///     running. The counterpart of `URLSessionConfiguration.sessionSendsLaunchEvents`.
  ///   - clock: The machine's clock, or a simulated one in tests.
  ///   - startWorker: Starts a process that runs a ``TransferWorker`` for the store; see ``WorkerProcess``.
  /// - Throws: ``Failure``; ``FetchError`` with `storage`; `FetchLock.Failure`; the errors of `startWorker`.
  public init(
    identifier: String, store: URL, delegate: any TransferDelegate,
    isInForeground: @escaping @Sendable () -> Bool = { true }, sendsLaunchEvents: Bool = true,
    clock: any FetchClock = SystemClock(), startWorker: @escaping @Sendable () throws -> Void
  ) throws {
    guard identifier.wholeMatch(of: /[A-Za-z0-9._-]{1,64}/) != nil else { throw Failure.identifier }
    self.identifier = identifier
    journal = try TransferJournal(store: store)
    guard let held = try Self.acquire(journal.sessionLock(identifier)) else { throw Failure.inUse }
    self.held = held
    changes = journal.changes()
    self.clock = clock
    retryAfterStore = RetryAfterStore(store: store, clock: clock)
    lastStart = Mutex(clock.now)
    (self.isInForeground, self.sendsLaunchEvents) = (isInForeground, sendsLaunchEvents)
    (self.delegate, self.startWorker) = (delegate, startWorker)
    // Transfers that were running when the machine was shut down have no worker.
    if try transfers.contains(where: { $0.state == .running }) { try startWorker() }
    let delivery = Task { [weak self, changes, clock] in
      var reported = Reported()
      while !Task.isCancelled, let interval = self?.report(&reported) {
        await changes.wait(upTo: interval, clock: clock)
      }
    }
    task.withLock { $0 = delivery }
  }

  deinit { task.withLock { $0?.cancel() } }

  /// Acquires the lock of a session. A worker that checks it at this moment holds it for an instant.
  private static func acquire(_ lock: FetchLock) throws -> FetchLock.Handle? {
    for _ in 0..<4 {
      if let held = try lock.acquire() { return held }
      Thread.sleep(forTimeInterval: 0.005)
    }
    return nil
  }

  /// Releases the identifier for another session. The transfers continue, and the delegate receives no more events.
  public func invalidate() async {
    let task = task.withLock { $0.take() }
    task?.cancel()
    await task?.value
    held.release()
  }

  /// The transfers whose end the delegate has not received.
  ///
  /// - Throws: ``FetchError`` with `storage`.
  public var transfers: [Transfer] {
    get throws { try journal.transfers(of: identifier) }
  }

  /// Adds a transfer, which is suspended until it is resumed.
  ///
  /// - Parameters:
  ///   - request: The content to transfer, and its conditions.
  ///   - description: A description for the app's own use.
  /// - Throws: ``FetchError`` with `rejected` for a URL that cannot be requested, such as one with another scheme; with
  ///   `storage`.
  public func transfer(_ request: TransferRequest, description: String? = nil) throws -> TransferTask {
    var request = request
    if !isInForeground() { request.isDiscretionary = true }
    let transfer = try journal.add(
      request, session: identifier, description: description, sendsLaunchEvents: sendsLaunchEvents)
    return TransferTask(session: self, number: transfer.number)
  }

  /// Returns the handle of a transfer that was added before.
  public func task(_ transfer: Transfer) -> TransferTask { TransferTask(session: self, number: transfer.number) }

  /// Sets a handler that is called once, when no transfer is running and the delegate has received all events. The system may then
  /// suspend the app that it launched for them.
  ///
  /// The counterpart of `URLSessionDelegate.urlSessionDidFinishEvents(forBackgroundURLSession:)`.
  ///
  /// - Throws: ``Failure/hasHandler`` if an earlier handler has not been called yet. It stays.
  public func onAllEventsDelivered(_ handler: @escaping @Sendable () -> Void) throws(Failure) {
    let isFirst = self.handler.withLock { current in
      guard current == nil else { return false }
      current = handler
      return true
    }
    guard isFirst else { throw .hasHandler }
    changes.signal()
  }

  func resume(_ number: Int64) throws {
    // The change of the journal wakes the task that starts a worker if none was started of late. It waits for the new time.
    let isResumed = try lastStart.withLock { lastStart in
      guard try journal.resume(number, at: clock.now) else { return false }
      lastStart = clock.now
      return true
    }
    if isResumed { try startWorker() }
  }

  /// The content of the reports that the delegate has received from this process.
  private struct Reported {
    /// The number of bytes of each transfer.
    var bytes: [Int64: Int64] = [:]
    /// The numbers of the events whose acknowledgement has failed.
    var events: Set<Int64> = []
  }

  /// Reports all new events. Restarts a worker if a transfer is due and the last worker has ended.
  ///
  /// - Returns: The seconds until the next check, unless the journal changes before.
  private func report(_ reported: inout Reported) -> Double {
    do {
      try deliverEvents(&reported.events)
      try reportProgress(&reported.bytes)
      try runHandlerIfDue()
      return try restartWorkerIfDue()
    } catch {
      // The journal cannot be used, or no worker can start at the moment.
      return Self.restartInterval
    }
  }

  private func restartWorkerIfDue() throws -> Double {
    let now = clock.now
    let running = try transfers.filter { $0.state == .running }
    let sinceStart = now.seconds(since: lastStart.withLock { $0 })
    let waits = running.map { transfer in
      // The worker queries the machine, not the session. It ends at once if its transfers wait for a condition.
      let interval = transfer.obstacle == nil ? Self.restartInterval : Self.maximumCheckInterval
      let wait = max(transfer.delay(retryAfterStore: retryAfterStore, at: now), interval - sinceStart)
      // The worker also gives up transfers that wait.
      return min(wait, max(transfer.timeLeft(at: now), Self.restartInterval - sinceStart))
    }
    guard let wait = waits.min() else { return Self.maximumCheckInterval }
    guard wait <= 0 else { return min(wait, Self.maximumCheckInterval) }
    lastStart.withLock { $0 = now }
    if try !journal.hasWorker { try startWorker() }
    return Self.restartInterval
  }

  private func deliverEvents(_ delivered: inout Set<Int64>) throws {
    var failure: (any Error)?
    for event in try journal.events(of: identifier) {
      if Task.isCancelled { return }
      if !delivered.contains(event.number), let transfer = try journal.transfer(event.transfer) {
        deliver(event, of: transfer)
      }
      do {
        // A process that is killed before the acknowledgement reports the event again.
        try journal.acknowledge(event)
        delivered.remove(event.number)
      } catch {
        delivered.insert(event.number)
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private func deliver(_ event: TransferEvent, of transfer: Transfer) {
    let task = task(transfer)
    switch event.kind {
    case .resumed(let offset): delegate.transfer(task, didResumeAt: offset, expected: transfer.total)
    case .completed:
      if transfer.state == .finished, transfer.request.direction == .download {
        let file = journal.completeFile(transfer)
        delegate.transfer(task, didFinishDownloadingTo: file)
        if transfer.request.file == nil { try? FileManager.default.removeItem(at: file) }
      }
      delegate.transfer(task, didEndAs: transfer)
    }
  }

  private func reportProgress(_ reported: inout [Int64: Int64]) throws {
    for transfer in try transfers where transfer.state == .running {
      let before = reported.updateValue(transfer.completed, forKey: transfer.number) ?? 0
      guard transfer.completed != before else { continue }
      delegate.transfer(
        task(transfer), didTransfer: transfer.completed - before, completed: transfer.completed,
        expected: transfer.total)
    }
  }

  private func runHandlerIfDue() throws {
    guard handler.withLock({ $0 != nil }), try !transfers.contains(where: { $0.state == .running }),
      try journal.events(of: identifier).isEmpty
    else { return }
    handler.withLock { $0.take() }?()
  }
}
