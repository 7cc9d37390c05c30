import BackgroundFetch
import Foundation
import HTTPTransfer
import NewsClient
import TestKit
import Testing

@Suite("A large push for another process of the store") struct PushSizeTests {
  @Test("reaches the running app up to the maximum size", arguments: [(65_536, true), (65_537, false)])
  func size(bytes: Int, isPassed: Bool) async throws {
    try await Installation.with { installation in
      func client() throws -> NewsFetcher {
        try NewsFetcher(
          .init(folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1"),
          application: ApplicationLifecycle(launchReason: .fetch))
      }
      let (app, sender, reports) = (try client(), try client(), Reports())
      let (head, tail) = (#"{"title":"High water","x":""#, #""}"#)
      let push = head + String(repeating: "y", count: bytes - head.count - tail.count) + tail
      let lock = FetchLock(path: installation.folder.appending(path: "app.lock").path)
      let task = Task { await app.receiveNotifications { reports.add($0) } }
      func end(_ task: Task<Void, Never>) async {
        task.cancel()
        await task.value
      }
      try await withResource(task, release: end) { _ in
        try await eventually("the app runs") { try lock.isHeld }
        #expect(await sender.deliver(Data(push.utf8)).result == .noData)
        #expect(reports.all.count == (isPassed ? 1 : 0))
      }
    }
  }
}
