import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A line on a terminal that tells how far an import is, at what rate, and how long it will take; nothing elsewhere.
final class ImportProgress {
  private let totalBytes: Int?
  private let isShown = isatty(STDERR_FILENO) == 1
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private var lastShown: ContinuousClock.Instant
  private var bytes = 0

  init(totalBytes: Int?) {
    self.totalBytes = totalBytes
    start = clock.now
    lastShown = start
  }

  func advance(bytes: Int, entries: Int) {
    self.bytes += bytes
    update(entries: entries)
  }

  func update(entries: Int) {
    guard isShown, clock.now - lastShown > .milliseconds(200) else { return }
    lastShown = clock.now
    let elapsed = (clock.now - start) / .seconds(1)
    var line = "\(entries) entries, \(Int(Double(entries) / elapsed)) a second"
    if let totalBytes, bytes > 0, totalBytes >= bytes {
      let left = elapsed * Double(totalBytes - bytes) / Double(bytes)
      line += ", \(100 * bytes / max(totalBytes, 1)) %, \(Duration.seconds(left.rounded()).formatted()) left"
    }
    write("\r\u{1B}[K" + line)
  }

  /// Makes room for another line.
  func clear() {
    if isShown { write("\r\u{1B}[K") }
  }

  func finish() {
    clear()
  }

  private func write(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
