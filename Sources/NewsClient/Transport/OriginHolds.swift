package import BackgroundFetch
package import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The waiting times that servers have demanded by `Retry-After` (RFC 9110 section 10.2.3), one for each origin.
///
/// They are kept in a file of the store, so that fetches and transfers of all processes respect them.
package final class OriginHolds: Sendable {
  /// The number of origins that are kept; those with the longest times stay.
  static let most = 100

  private let file: URL
  private let clock: any FetchClock
  /// The demands that this process has met itself. They hold where the file cannot be written, too.
  private let own = Mutex<[String: Waiting]>([:])

  /// The holds of a store.
  ///
  /// - Parameters:
  ///   - store: The folder of the client.
  ///   - clock: The clock by which they end.
  package init(store: URL, clock: any FetchClock) {
    file = store.appending(path: "holds.json", directoryHint: .notDirectory)
    self.clock = clock
  }

  /// The seconds for which the origin of a URL wants no requests, 0...86 400.
  package func remaining(_ url: URL) -> Double {
    guard let origin = Self.origin(url) else { return 0 }
    let now = clock.now
    let waits = [own.withLock { $0[origin] }, stored()[origin]]
    return waits.compactMap { $0?.remaining(at: now) }.max() ?? 0
  }

  /// Keeps all requests away from the origin of a URL. Of several demands the one that ends last counts.
  ///
  /// - Parameter seconds: The time from now on, cut to 0...86 400.
  package func hold(_ url: URL, seconds: Double) {
    guard let origin = Self.origin(url) else { return }
    let now = clock.now
    let wait = Waiting(seconds, from: now, longest: RetryAfter.most)
    let all = own.withLock { own in
      if wait.seconds > own[origin]?.remaining(at: now) ?? 0 { own[origin] = wait }
      own = own.filter { $0.value.remaining(at: now) > 0 }
      return own
    }
    store(all, at: now)
  }

  private func stored() -> [String: Waiting] {
    guard let data = try? Data(contentsOf: file) else { return [:] }
    return (try? JSONDecoder().decode([String: Waiting].self, from: data)) ?? [:]
  }

  /// Merges holds into the file, under a lock against other processes.
  private func store(_ holds: [String: Waiting], at now: FetchMoment) {
    let descriptor = open(file.path(percentEncoded: false) + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    // Without the lock another process's entry may be lost, which costs one request more.
    if descriptor >= 0 { flock(descriptor, LOCK_EX) }
    defer { if descriptor >= 0 { close(descriptor) } }
    let merged = stored().merging(holds) { $0.remaining(at: now) > $1.remaining(at: now) ? $0 : $1 }
    let kept = merged.filter { $0.value.remaining(at: now) > 0 }
      .sorted { $0.value.remaining(at: now) > $1.value.remaining(at: now) }.prefix(Self.most)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })) else {
      return
    }
    // A full disk leaves the holds of this process, which are in memory.
    try? data.write(to: file, options: .atomic)
  }

  /// Scheme, host and port in lower case; nil for anything but http and https.
  private static func origin(_ url: URL) -> String? {
    guard let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased() else { return nil }
    switch scheme {
    case "http": return "http://\(host):\(url.port ?? 80)"
    case "https": return "https://\(host):\(url.port ?? 443)"
    default: return nil
    }
  }
}
