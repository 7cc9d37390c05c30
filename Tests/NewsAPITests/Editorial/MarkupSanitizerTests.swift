import Foundation
import NewsAPI
import TestSupport
import Testing

@Suite struct MarkupSanitizerTests {
  private static let large =
    "<p " + (0..<60_000).map { "a\(String($0, radix: 36))" }.joined(separator: " ") + " onclick='x'>x</p>"

  @Test("Sanitising large HTML, even many documents at once, leaves threads to other tasks")
  func threads() async throws {
    let sanitizer = MarkupSanitizer(threads: 1, timeout: .seconds(600))
    let sources = 32
    let done = Count()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<sources {
        group.addTask {
          _ = try await sanitizer.safe(Self.large)
          _ = done.next()
        }
      }
      // Each task begins after all tasks that were queued before it.
      for _ in 0..<3 { await Task.detached {}.value }
      #expect(done.value < sources / 2, "most of the HTML is still being worked on")
      try await group.waitForAll()
    }
    #expect(done.value == sources)
  }
}
