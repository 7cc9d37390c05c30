package import Foundation
import Synchronization

/// The waits that servers demand by `Retry-After` (RFC 9110, section 10.2.3), one for each origin.
///
/// They are in a file of the store, so that the fetches and transfers of all processes respect them.
package final class RetryAfterStore: Sendable {
  /// The maximum number of stored origins. The longest waits are kept.
  static let maximumOrigins = 100
  /// The maximum wait that a server may demand, in seconds: one day.
  static let maximumWait = 86_400.0

  private let file: URL
  private let clock: any FetchClock
  /// The waits that this process has received. They apply even if the file cannot be written.
  private let received = Mutex<[String: WaitingPeriod]>([:])

  /// Opens the waits of a store.
  ///
  /// - Parameters:
  ///   - store: The folder of the client.
  ///   - clock: The clock that measures the waits.
  package init(store: URL, clock: any FetchClock) {
    file = store.appending(path: "holds.json", directoryHint: .notDirectory)
    self.clock = clock
  }

  /// Returns the remaining wait for the origin of a URL in seconds, 0...86 400.
  package func remaining(for url: URL) -> Double {
    guard let origin = Self.origin(url) else { return 0 }
    let now = clock.now
    let waits = [received.withLock { $0[origin] }, stored()[origin]]
    return waits.compactMap { $0?.remaining(at: now) }.max() ?? 0
  }

  /// The remaining waits in seconds by origin, such as `https://news.example:443`.
  package var all: [String: Double] {
    let now = clock.now
    return stored().merging(received.withLock(\.self)) { $0.remaining(at: now) > $1.remaining(at: now) ? $0 : $1 }
      .mapValues { $0.remaining(at: now) }.filter { $0.value > 0 }
  }

  /// Blocks all requests to the origin of a URL for some time. The wait that ends last applies.
  ///
  /// - Parameter seconds: The time from now on, clamped to 0...86 400.
  package func delay(_ url: URL, seconds: Double) {
    guard let origin = Self.origin(url) else { return }
    let now = clock.now
    let wait = WaitingPeriod(seconds, from: now, maximum: Self.maximumWait)
    let all = received.withLock { received in
      if wait.seconds > received[origin]?.remaining(at: now) ?? 0 { received[origin] = wait }
      received = received.filter { $0.value.remaining(at: now) > 0 }
      return received
    }
    store(all, at: now)
  }

  private func stored() -> [String: WaitingPeriod] {
    (try? DurableFile(url: file).read([String: WaitingPeriod].self)) ?? [:]
  }

  /// Merges waits into the file, under a lock against other processes.
  private func store(_ waits: [String: WaitingPeriod], at now: FetchInstant) {
    let descriptor = open(file.path(percentEncoded: false) + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    // Without the lock an entry of another process may be lost, which costs one extra request.
    if descriptor >= 0 { flock(descriptor, LOCK_EX) }
    defer { if descriptor >= 0 { close(descriptor) } }
    let merged = stored().merging(waits) { $0.remaining(at: now) > $1.remaining(at: now) ? $0 : $1 }
    let kept = merged.filter { $0.value.remaining(at: now) > 0 }
      .sorted { $0.value.remaining(at: now) > $1.value.remaining(at: now) }.prefix(Self.maximumOrigins)
    // If the disk is full, the waits of this process remain in memory.
    try? DurableFile(url: file).write(Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) }))
  }

  /// Returns scheme, host and port in lower case; nil unless the scheme is http or https.
  private static func origin(_ url: URL) -> String? {
    guard let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased() else { return nil }
    switch scheme {
    case "http": return "http://\(host):\(url.port ?? 80)"
    case "https": return "https://\(host):\(url.port ?? 443)"
    default: return nil
    }
  }
}
