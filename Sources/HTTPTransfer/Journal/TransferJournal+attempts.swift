import Foundation

/// The attempts at transfers, which are recorded before they begin. An attempt that is recorded when a new worker starts has
/// ended with a crash of the last worker.
extension TransferJournal {
  /// Records the beginning of an attempt.
  package func beginAttempt(_ number: Int64, at now: FetchInstant) throws { try update(number) { $0.attempt = now } }

  /// Records that an attempt has ended, whatever its result, while its worker goes on.
  func endAttempt(_ number: Int64) throws {
    try update(number) { ($0.attempt, $0.crashes, $0.bytesAtCrash) = (nil, nil, nil) }
  }

  /// Returns the bytes that the other downloads of a budget have used.
  func bytes(of budget: TransferBudget, without number: Int64) throws -> Int64 {
    try transfers().reduce(0) { sum, transfer in
      guard transfer.request.budget?.name == budget.name, transfer.number != number else { return sum }
      return [.failed, .cancelled].contains(transfer.state) ? sum : sum + transfer.completed
    }
  }

  /// Records that a worker has crashed during an attempt. A reboot is no crash, and an attempt that has come further than the
  /// last one begins a new count.
  ///
  /// - Returns: The number of consecutive crashes.
  func recordCrash(of transfer: Transfer, at now: FetchInstant) throws -> Int {
    let path = partialFile(transfer).path(percentEncoded: false)
    let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64) ?? 0
    let held = transfer.request.direction == .download ? max(transfer.completed, size) : transfer.completed
    let changed = try update(transfer.number) { transfer in
      if let attempt = transfer.attempt, attempt.boot == now.boot {
        let hasProgressed = transfer.bytesAtCrash.map { held > $0 } ?? true
        transfer.crashes = hasProgressed ? 1 : (transfer.crashes ?? 0) + 1
        transfer.bytesAtCrash = held
      }
      transfer.attempt = nil
    }
    return changed?.crashes ?? 0
  }
}
