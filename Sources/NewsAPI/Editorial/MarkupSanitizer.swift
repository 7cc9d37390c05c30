import Foundation
package import SafeHTML

/// Makes the HTML of editors safe without keeping other requests from an answer.
///
/// The largest HTML takes long. It is made safe on threads of its own, fewer than there are processors: the threads that
/// all handlers share stay free. Further bodies wait in a bounded queue.
///
///     let sanitizer = MarkupSanitizer()
///     let html = try await sanitizer.safe("<p onclick=x>text</p>").html
package final class MarkupSanitizer: Sendable {
  /// Up to so many bytes the HTML is made safe at once, because a queue would take longer.
  private static let smallSource = 16_384

  private let limiter: ConcurrencyLimiter

  /// - Parameter threads: How many bodies are worked on at a time, 1 or more.
  package init(threads: Int = max(1, ProcessInfo.processInfo.activeProcessorCount - 1)) {
    limiter = ConcurrencyLimiter(limit: threads, maximumWaiters: 64, timeout: .seconds(20))
  }

  /// Makes HTML safe.
  ///
  /// - Throws: `StoreError.unavailable` if too much HTML is waiting, `CancellationError`.
  package func safe(_ source: String) async throws -> SafeHTML {
    if source.utf8.count <= Self.smallSource { return SafeHTML(source, base: nil) }
    return try await limiter.run {
      await withCheckedContinuation { continuation in
        // On Linux the global queues of Dispatch lend their threads to Swift's tasks.
        Thread.detachNewThread { continuation.resume(returning: SafeHTML(source, base: nil)) }
      }
    }
  }
}
