import Foundation
import NewsStore
package import SafeHTML

/// Sanitises the HTML of editors without delaying other requests.
///
/// Large HTML takes long. It is sanitised on separate threads, fewer than there are processors, so that the threads
/// that all handlers share stay free. Further HTML waits in a bounded queue.
///
///     let sanitizer = MarkupSanitizer()
///     let html = try await sanitizer.safe("<p onclick=x>text</p>").html
package final class MarkupSanitizer: Sendable {
  /// The maximum size of HTML that is sanitised at once, in bytes, because queueing it would take longer.
  private static let smallSource = 16_384

  private let limiter: ConcurrencyLimiter

  /// - Parameters:
  ///   - threads: The maximum number of threads at a time, 1 or more.
  ///   - timeout: The maximum wait in the queue.
  package init(
    threads: Int = max(1, ProcessInfo.processInfo.activeProcessorCount - 1), timeout: Duration = .seconds(20)
  ) {
    limiter = ConcurrencyLimiter(limit: threads, maximumWaiters: 64, timeout: timeout)
  }

  /// Sanitises HTML.
  ///
  /// - Throws: `StoreError.unavailable` if the queue is full or the timeout has passed; `CancellationError` if
  ///   the caller is cancelled in the queue.
  package func safe(_ source: String) async throws -> SafeHTML {
    if source.utf8.count <= Self.smallSource { return SafeHTML(source, base: nil) }
    return try await limiter.run {
      await withCheckedContinuation { continuation in
        // A new thread: on Linux, Swift's tasks run on the threads of Dispatch's global queues.
        Thread.detachNewThread { continuation.resume(returning: SafeHTML(source, base: nil)) }
      }
    }
  }
}
