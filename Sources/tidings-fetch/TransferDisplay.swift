import BackgroundFetch
import Foundation
import HTTPTransfer
import NewsClient

/// Shows the progress of transfers. On a terminal it redraws a line with a bar for each, until all have ended.
/// Otherwise it writes a line when a transfer begins to wait.
struct TransferDisplay {
  private static let redrawInterval = 0.2
  /// The maximum interval between two checks while transfers wait, in seconds.
  private static let waitingInterval = 60.0
  /// The minimum interval between two starts of a worker, in seconds.
  private static let restartInterval = 5.0

  private let journal: TransferJournal
  private let startWorker: () -> Void
  private let clock = SystemClock()

  /// - Parameter startWorker: Starts a worker if a transfer is due and no worker runs.
  init(_ journal: TransferJournal, startWorker: @escaping () -> Void) {
    self.journal = journal
    self.startWorker = startWorker
  }

  /// Shows transfers until none is running, or until none has moved for some time. If a worker has ended meanwhile, it
  /// is started again when a transfer is due.
  ///
  /// - Parameter timeout: The seconds without progress after which this returns.
  /// - Returns: Whether no transfer is running.
  func follow(timeout: Double, _ transfers: () throws -> [Transfer]) async throws -> Bool {
    let changes = journal.changes()
    let isTerminal = Terminal.errors != nil
    var rates: [Int64: TransferRate] = [:]
    var reported: [Int64: String] = [:]
    var drawn = 0
    var last: [Int64: Int64] = [:]
    var lastMove = clock.now
    var lastStart = clock.now
    while true {
      let current = try transfers()
      let now = clock.now
      if isTerminal {
        // The user may have resized it.
        let columns = Terminal.errors?.columns ?? 80
        let lines = current.map { transfer in
          let rate = rates[transfer.number, default: TransferRate()].add(transfer.completed)
          return ProgressLine(TransferLine(transfer, journal), perSecond: rate).text(columns: columns)
        }
        draw(lines, over: drawn)
        drawn = lines.count
      } else {
        for transfer in current { report(transfer, &reported) }
      }
      let running = current.filter { $0.state == .running }
      if running.isEmpty { return true }
      let moved = Dictionary(running.map { ($0.number, $0.completed) }) { $1 }
      if moved != last { (last, lastMove) = (moved, now) }
      if now.seconds(since: lastMove) >= timeout {
        Output.log("no data for \(roundedTime(timeout)); the transfer continues: tidings-fetch transfers")
        return false
      }
      if now.seconds(since: lastStart) >= Self.restartInterval {
        lastStart = now
        startWorker()
      }
      let left = timeout - now.seconds(since: lastMove)
      await changes.wait(upTo: min(interval(of: running, isTerminal), left), clock: clock)
      try Task.checkCancellation()
    }
  }

  /// Returns the seconds until the next check, unless the journal changes before.
  private func interval(of running: [Transfer], _ isTerminal: Bool) -> Double {
    running.map { transfer in
      let line = TransferLine(transfer, journal)
      guard line.waitsFor != nil else { return isTerminal ? Self.redrawInterval : Self.restartInterval }
      // A terminal counts the last minute down.
      guard let seconds = line.retryIn.map(Double.init), seconds <= Self.waitingInterval else {
        return Self.waitingInterval
      }
      return isTerminal ? 1 : seconds
    }.min() ?? Self.waitingInterval
  }

  /// Writes a line when a transfer begins to wait, or waits for another reason.
  private func report(_ transfer: Transfer, _ reported: inout [Int64: String]) {
    let line = TransferLine(transfer, journal)
    guard line.waitsFor != nil else { return }
    let key = "\(line.waitsFor?.rawValue ?? "") \(line.failure ?? "")"
    if reported.updateValue(key, forKey: transfer.number) != key { Output.log(line.text) }
  }

  /// Draws lines over the previous ones.
  private func draw(_ lines: [String], over drawn: Int) {
    let up = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
    Output.draw(up + lines.map { "\r\u{1B}[2K\($0)\n" }.joined())
  }
}

/// A line with a bar, within the columns of a terminal.
struct ProgressLine {
  private static let maximumBarWidth = 24
  private static let minimumBarWidth = 5

  private let line: TransferLine
  private let perSecond: Double

  init(_ line: TransferLine, perSecond: Double) {
    (self.line, self.perSecond) = (line, perSecond)
  }

  /// Returns the line, one column shorter than the terminal, so that it does not wrap.
  func text(columns: Int) -> String {
    guard line.state == .running, line.waitsFor == nil, let total = line.total, total > 0 else {
      return line.text.prefix(columns: columns - 1)
    }
    let share = min(1, max(0, Double(line.completed) / Double(total)))
    let left = perSecond > 0 ? "  \(roundedTime((Double(total) - Double(line.completed)) / perSecond)) left" : ""
    let rate = "\(ByteAmount.text(Int64(exactly: perSecond.rounded()) ?? .max))/s"
    let texts = [
      "\(Int(share * 100))%  \(line.text)  \(rate)\(left)", "\(Int(share * 100))%  \(line.name)  \(rate)\(left)",
      "\(Int(share * 100))%  \(line.name)", "\(Int(share * 100))%",
    ]
    // The longest text that fits beside a bar.
    let room = columns - 2
    let text = texts.first { $0.columns + Self.minimumBarWidth <= room } ?? ""
    let width = min(Self.maximumBarWidth, max(0, room - text.columns))
    let full = Int(share * Double(width))
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
    return "\(bar) \(text)".prefix(columns: columns - 1)
  }
}

/// The speed of a transfer over the last five seconds.
struct TransferRate {
  private var samples: [(at: ContinuousClock.Instant, bytes: Int64)] = []

  /// Adds the present number of bytes.
  ///
  /// - Returns: Bytes per second.
  mutating func add(_ bytes: Int64) -> Double {
    samples.append((.now, bytes))
    samples.removeAll { $0.at < .now - .seconds(5) || $0.bytes > bytes }
    guard let first = samples.first, samples.count > 1 else { return 0 }
    let seconds = (ContinuousClock.now - first.at) / .seconds(1)
    return seconds > 0 ? (Double(bytes) - Double(first.bytes)) / seconds : 0
  }
}
