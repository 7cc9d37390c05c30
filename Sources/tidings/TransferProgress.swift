import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A progress line on a terminal: the entries, rate, percentage and remaining time of an import or export. Nothing is
/// shown without a terminal.
final class TransferProgress {
  private let total: Int?
  private let isShown = isatty(STDERR_FILENO) == 1
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private var lastShown: ContinuousClock.Instant
  private var done = 0

  /// - Parameter total: The total in bytes, or in the unit of `advance`; nil if it is unknown.
  init(total: Int?) {
    self.total = total
    start = clock.now
    lastShown = start
  }

  func advance(by count: Int, entries: Int) {
    done += count
    update(entries: entries)
  }

  func update(entries: Int) {
    guard isShown, clock.now - lastShown > .milliseconds(200) else { return }
    lastShown = clock.now
    let elapsed = (clock.now - start) / .seconds(1)
    var line = "\(entries) entries, \(Int(Double(entries) / elapsed)) a second"
    if let total, done > 0, total >= done {
      let left = elapsed * Double(total - done) / Double(done)
      line += ", \(100 * done / max(total, 1)) %, \(Duration.seconds(left.rounded()).formatted()) left"
    }
    write("\r\u{1B}[K" + line)
  }

  /// Clears the line before other output.
  func clear() {
    if isShown { write("\r\u{1B}[K") }
  }

  private func write(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
