import BackgroundFetch
import Crypto
public import Foundation
public import News
import Synchronization

/// Which files are downloaded with the items that have them.
public struct AttachmentPolicy: Sendable, Hashable {
  /// Which of an item's.
  public enum Selection: String, Sendable, Hashable, CaseIterable {
    /// None.
    case none
    /// The first picture.
    case thumbnails
    /// All of them.
    case all
  }

  /// Which of an item's.
  public var selection: Selection
  /// How many bytes of an item at the most; a file of unknown length counts as all that is left.
  public var mostBytes: Int

  /// A policy.
  public init(_ selection: Selection, mostBytes: Int = 10 << 20) {
    self.selection = selection
    self.mostBytes = mostBytes
  }

  /// The files of an item that are wanted, each with the most bytes that it may have.
  func wanted(of item: NewsItem) -> [(attachment: Attachment, most: Int)] {
    let candidates =
      switch selection {
      case .none: [Attachment]()
      case .thumbnails: Array(item.attachments.filter { $0.type.hasPrefix("image/") }.prefix(1))
      case .all: item.attachments
      }
    var left = mostBytes
    return candidates.compactMap { attachment in
      let bytes = attachment.bytes ?? left
      guard bytes > 0, bytes <= left else { return nil }
      left -= bytes
      return (attachment, bytes)
    }
  }
}

/// Hands the files of new items to the worker, and removes those of items that are kept no more. A fetch does not wait for
/// them: it is over when the items are stored.
public final class AttachmentDownloads: Sendable {
  private let client: NewsFetcher
  private let policy: AttachmentPolicy
  private let journal: TransferJournal
  private let folder: URL
  private let startWorker: @Sendable () throws -> Void
  private let observation = Mutex<Observation?>(nil)

  /// Begins to watch what a client stores.
  ///
  /// - Parameters:
  ///   - policy: Which files are wanted.
  ///   - startWorker: Starts a process that runs a ``TransferWorker`` for the client's store; see ``WorkerProcess``.
  /// - Throws: ``FetchError`` with `storage`.
  public init(
    _ client: NewsFetcher, policy: AttachmentPolicy, startWorker: @escaping @Sendable () throws -> Void
  ) throws {
    (self.client, self.policy, self.startWorker) = (client, policy, startWorker)
    folder = client.configuration.folder.appending(path: "attachments", directoryHint: .isDirectory)
    journal = try TransferJournal(store: client.configuration.folder)
    let observation = client.changes.add { [weak self] difference in self?.handOver(difference) }
    self.observation.withLock { $0 = observation }
  }

  /// Where a file is, if it is here.
  public func file(of attachment: Attachment) -> URL? {
    let place = place(of: attachment)
    return place.exists ? place : nil
  }

  /// By content where that is known, else by address.
  private func place(of attachment: Attachment) -> URL {
    let name =
      attachment.sha256?.lowercased().wholeMatch(of: /[0-9a-f]{64}/).map { String($0.output) }
      ?? SHA256.hash(data: Data(attachment.url.utf8)).hexadecimal
    return folder.appending(path: name, directoryHint: .notDirectory)
  }

  private func handOver(_ difference: Difference) {
    let tasks = client.application.backgroundTasks
    let task = tasks.begin("attachments")
    Task {
      defer { tasks.end(task) }
      do {
        try add(difference.inserted + difference.updated)
        try removeUnused()
      } catch {
        client.log("attachments: \(error)")
      }
    }
  }

  private func add(_ items: [NewsItem]) throws {
    var pending = Set(try journal.transfers().filter { !$0.state.isOver }.compactMap(\.request.file))
    var isNew = false
    for (attachment, most) in items.flatMap({ policy.wanted(of: $0) }) {
      let place = place(of: attachment)
      guard let url = URL(string: attachment.url, relativeTo: client.configuration.source.server)?.absoluteURL,
        ["http", "https"].contains(url.scheme?.lowercased()), file(of: attachment) == nil,
        pending.insert(place).inserted
      else { continue }
      var request = TransferRequest(download: url, to: place)
      (request.sha256, request.mediaType, request.mostBytes) = (attachment.sha256, attachment.type, Int64(most))
      request.isDiscretionary = client.application.currentState != .foreground
      try journal.resume(try journal.add(request, description: attachment.alt).number, at: client.clock.now.date)
      isNew = true
    }
    if isNew { try startWorker() }
  }

  /// Removes what no stored item has any more. Whoever keeps everything keeps its files, too.
  private func removeUnused() throws {
    guard case .window = client.configuration.source.extent else { return }
    let used = Set(try client.allNewsItems.flatMap(\.attachments).map { place(of: $0).lastPathComponent })
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    for name in names where !name.hasPrefix(".") && !used.contains(name) {
      try? FileManager.default.removeItem(at: folder.appending(path: name))
    }
    for transfer in try journal.transfers() where !transfer.state.isOver && transfer.session == nil {
      guard let file = transfer.request.file, file.deletingLastPathComponent().path == folder.path,
        !used.contains(file.lastPathComponent)
      else { continue }
      try journal.cancel(transfer.number)
    }
  }
}
