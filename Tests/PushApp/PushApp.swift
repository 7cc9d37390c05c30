import BackgroundFetch
import Foundation
import HTTPTransfer
import News
import NewsClient

/// An app that downloads the page of each item that a push names, and notifies the user when it has arrived.
///
/// Its arguments are the path of `tidings-fetch` and the folder of the store. It writes a line to the file `app.log` of the
/// store for each event.
@main
struct PushApp: TransferDelegate {
  let news: NewsFetcher
  let journal: AppLog

  static func main() async throws {
    let store = URL(filePath: CommandLine.arguments[2], directoryHint: .isDirectory)
    let journal = AppLog(store)
    let options = LaunchOptions()
    journal.add("launched \(options.reason.rawValue) \(options.session ?? "-")")
    let application = ApplicationLifecycle(launchReason: options.reason)
    let news = try NewsFetcher(folder: store, application: application) { feed in
      guard let feed else { throw CocoaError(.fileNoSuchFile) }
      var configuration = NewsFetcher.Configuration(folder: store, feed: feed, userAgent: "push-app/1")
      configuration.presenter = journal
      return configuration
    }
    try await PushApp(news: news, journal: journal).run(options, store)
  }

  private func run(_ options: LaunchOptions, _ store: URL) async throws {
    await news.application.launch()
    let worker = WorkerProcess(
      executable: URL(filePath: CommandLine.arguments[1]), arguments: ["--store", store.path, "worker"])
    let session = try TransferSession(
      identifier: options.session ?? "pages", store: store, application: news.application, delegate: self
    ) { try worker.start() }
    let observation = news.remoteNotifications.add { [news] push in
      guard let item = push.contentID.flatMap({ try? news.item($0) }), let page = item.url.flatMap({ URL(string: $0) })
      else { return }
      _ = try? session.transfer(TransferRequest(download: page), description: item.title).resume()
      journal.add("download \(item.title ?? "")")
    }
    if options.reason == .transfer {
      let (delivered, continuation) = AsyncStream<Void>.makeStream()
      try session.onAllEventsDelivered { continuation.finish() }
      for await _ in delivered {}
    } else {
      await news.receiveNotifications()
    }
    _ = await news.application.suspend()
    withExtendedLifetime(observation) {}
  }

  func transfer(_ task: TransferTask, didEndAs transfer: Transfer) {
    let title = transfer.taskDescription ?? ""
    journal.add("\(transfer.state.rawValue) \(title)")
    let notifying = news.application.backgroundTasks.begin("notification")
    Task {
      try await news.notifications.add(NotificationRequest(identifier: "page", title: "\(title) can be read"))
      news.application.backgroundTasks.end(notifying)
    }
  }
}

/// A file with a line per event, which also shows the notifications.
struct AppLog: NotificationPresenter {
  private let file: URL

  init(_ store: URL) { file = store.appending(path: "app.log", directoryHint: .notDirectory) }

  func add(_ line: String) {
    guard let descriptor = Optional(open(file.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)), descriptor >= 0 else {
      return
    }
    try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data((line + "\n").utf8))
  }

  func present(_ request: NotificationRequest) async throws -> String? {
    add("notification \(request.title)")
    return nil
  }
}
