import BackgroundFetch
import Foundation
import News
import NewsClient

/// An app that stays current by itself: it prints what is stored and what arrives, and new items raise notifications.
///
///     swift run sample-app http://127.0.0.1:8080 /tmp/harbour
@main
struct SampleApp {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let server = URL(string: arguments[1]) else { return print("sample-app SERVER FOLDER") }
    var configuration = NewsFetcher.Configuration(
      folder: URL(filePath: arguments[2], directoryHint: .isDirectory), feed: FollowedFeed(server: server),
      userAgent: "Harbour/1.0 (+https://harbour.example)")
    configuration.notifiesInForeground = true
    let news = try NewsFetcher(configuration, application: ApplicationLifecycle(launchReason: .user))

    try news.updateSchedule { $0.setInterval(.minimum) }
    var notifications = news.notifications.options
    notifications.showsNews = true
    try news.notifications.setOptions(notifications)

    await news.application.launch()
    try news.recordOpening()
    for item in try news.items(limit: 10).reversed() { print(item.title ?? item.text) }
    let observation = news.changes.add { changes in
      for item in changes.inserted.reversed() { print("new:", item.title ?? item.text) }
    }
    await news.performFetch(.launch)
    await news.run(followsEvents: true)
    withExtendedLifetime(observation) {}
  }
}
