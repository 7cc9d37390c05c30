import BackgroundFetch
import Foundation
import GRDB
import News

extension LocalNotifications {
  /// The outcome of a delivery.
  struct Delivery: Sendable {
    /// Sentences about what could not be delivered, and about a program that has failed.
    var failures: [String] = []
    /// The exit status of the user's program; nil if it was not run or was ended by a signal.
    var programStatus: Int32?
  }

  /// Delivers what is due: the items of fetches, and the requests of the app. A process without fetches calls it from time
  /// to time; see also ``run()``.
  ///
  /// Each channel, the desktop and the user's program, has 10 seconds. Of several processes, one delivers at a time.
  ///
  /// - Returns: Sentences about failures. A later call repeats what has failed.
  @discardableResult
  public func deliver() async -> [String] { await deliverAll().failures }

  /// Delivers what is due by both channels at once, so that neither delays the other.
  func deliverAll() async -> Delivery {
    if isEmpty { return Delivery() }
    async let shown = deliver(by: .desktop)
    async let run = deliver(by: .program)
    let (first, second) = await (shown, run)
    return Delivery(failures: first.failures + second.failures, programStatus: second.programStatus)
  }

  private func deliver(by channel: NotificationJournal.Channel) async -> Delivery {
    var delivery = Delivery()
    do {
      let name = "notify-\(channel.rawValue).lock"
      let lock = FetchLock(path: folder.appending(path: name).path(percentEncoded: false))
      // The process that holds the lock delivers what has arrived meanwhile, or the next delivery does.
      guard let held = try await lock.acquire(within: Self.limit) else { return delivery }
      defer { held.release() }
      try store.write { try NotificationJournal($0).forgetOldItems(at: clock.now.date) }
      switch channel {
      case .desktop: try await showAll()
      case .program: try await runProgram(&delivery)
      }
      noteFailure(nil, of: channel)
    } catch is CancellationError {
      // The process ends. A later delivery continues.
    } catch {
      delivery.failures.append("\(error)")
      noteFailure("\(error)", of: channel)
    }
    return delivery
  }

  /// Logs a failure, unless the last delivery has failed for the same reason.
  private func noteFailure(_ failure: String?, of channel: NotificationJournal.Channel) {
    let isNew = try? store.write { db in
      let table = StateTable(db)
      var failures = try table.value([String: String].self, .notificationFailures) ?? [:]
      if failures[channel.rawValue] == failure { return false }
      failures[channel.rawValue] = failure
      try table.save(failures, .notificationFailures)
      return true
    }
    if let failure, isNew ?? true { log(failure) }
  }

  /// Whether it is a quiet hour.
  private var isQuiet: Bool { options.quietHours?.end(containing: clock.now.date, in: timeZone) != nil }
}

/// The desktop.
extension LocalNotifications {
  private struct Batch {
    var corrections: [NotificationJournal.Correction]
    /// The requests of the app, each with the handle of the notification that it replaces.
    var requests: [(request: NotificationRequest, handle: String?)]
    var news: [NewsNotification]

    var isEmpty: Bool { corrections.isEmpty && requests.isEmpty && news.isEmpty }
  }

  /// Shows what is due, and records each notification once it is shown.
  private func showAll() async throws {
    guard let presenter else { return }
    let end = clock.now.uptime + Self.limit / .seconds(1)
    @Sendable func limited<Value: Sendable>(
      _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
      try await withTimeLimit(.seconds(max(0, end - clock.now.uptime)), clock: clock, operation)
    }
    var failed: [String: any Error] = [:]
    while case let batch = try nextBatch(without: Set(failed.keys)), !batch.isEmpty {
      for correction in batch.corrections {
        var handle: String?
        do {
          handle = try await limited { () -> String? in
            if !correction.isWithdrawal {
              return try await presenter.replace(correction.handle, with: correction.request)
            }
            try await presenter.withdraw(correction.handle)
            return nil
          }
        } catch {
          // This process may have no desktop, while another one has.
          failed[correction.request.identifier] = error
          let age = clock.now.date.timeIntervalSince(correction.delivered)
          if error is CancellationError || age < NotificationJournal.maximumAge { continue }
        }
        try store.write { [handle] in try NotificationJournal($0).recordCorrection(correction, handle: handle) }
      }
      for (request, replaced) in batch.requests {
        let handle = try await limited { () -> String? in
          if let replaced, let handle = try await presenter.replace(replaced, with: request) { return handle }
          return try await presenter.present(request)
        }
        try record(request, handle)
      }
      for news in batch.news {
        let handle = try await limited { try await presenter.present(news.request) }
        try record(news.request, handle, about: news.items)
      }
    }
    if let failure = failed.values.first { throw failure }
  }

  /// Returns what is due.
  ///
  /// - Parameter failed: The identifiers of the notifications whose correction has failed in this delivery.
  private func nextBatch(without failed: Set<String>) throws -> Batch {
    let (isQuiet, now) = (isQuiet, clock.now.date)
    return try store.read { db in
      let journal = NotificationJournal(db)
      let requests = try journal.pending(due: now).filter { !isQuiet || $0.urgency == .critical }
      let corrections = try journal.corrections().filter { correction in
        let identifier = correction.request.identifier
        // A request that is due replaces the notification, so that it is not withdrawn before.
        let isReplaced = correction.isWithdrawal && requests.contains { $0.identifier == identifier }
        return !isReplaced && !failed.contains(identifier)
      }
      return Batch(
        corrections: corrections,
        requests: try requests.map { ($0, try journal.handle(of: $0.identifier)) },
        news: NewsNotification.notifications(about: try journal.unmentioned(.desktop, onlyBreaking: isQuiet)))
    }
  }

  private func record(_ request: NotificationRequest, _ handle: String?, about items: [NewsItem] = []) throws {
    let now = clock.now.date
    try store.write { try NotificationJournal($0).recordDelivery(of: request, about: items, handle: handle, at: now) }
  }
}

/// The user's program.
extension LocalNotifications {
  /// The maximum number of runs in one delivery. Another process may add items during a run.
  private static let maximumRuns = 3

  /// Runs the program with the new items, once for all of them.
  private func runProgram(_ delivery: inout Delivery) async throws {
    #if os(Linux)
      for _ in 0..<Self.maximumRuns {
        let isQuiet = isQuiet
        let items = try store.read { try NotificationJournal($0).unmentioned(.program, onlyBreaking: isQuiet) }
        guard let program = options.program, !items.isEmpty else { return }
        let (sentence, status) = try await NotificationProgram(program: program, store: folder, clock: clock).run(items)
        delivery.programStatus = status
        if status != 0 {
          delivery.failures.append(sentence)
          log(sentence)
        }
        // A program that fails or hangs has received the items too. It would otherwise be run again and again.
        try store.write { try NotificationJournal($0).mentioned(items.map(\.id), by: .program) }
      }
    #endif
  }
}

/// A trial.
extension LocalNotifications {
  /// Shows a notification about the newest stored item, and runs the user's program with it. Nothing is recorded.
  ///
  /// - Returns: Sentences about failures.
  package func test() async -> [String] {
    var failures: [String] = []
    let items = (try? store.read { try ItemTable($0).newest(1) }) ?? []
    let options = options
    if options.showsNews {
      let request =
        items.first.map { NewsNotification(about: $0).request }
        ?? NotificationRequest(identifier: "test", title: "Notifications work", body: "No item is stored yet.")
      do {
        _ = try await withTimeLimit(Self.limit, clock: clock) { [presenter] in try await presenter?.present(request) }
      } catch {
        failures.append("\(error)")
      }
    }
    #if os(Linux)
      if let program = options.program {
        do {
          let (sentence, status) = try await NotificationProgram(program: program, store: folder, clock: clock).run(
            items)
          if status != 0 { failures.append(sentence) }
        } catch {
          failures.append("\(error)")
        }
      }
    #endif
    return failures
  }
}
