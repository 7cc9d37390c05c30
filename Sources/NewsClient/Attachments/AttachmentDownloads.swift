import BackgroundFetch
import Crypto
public import Foundation
import GRDB
import HTTPTransfer
public import News
import Synchronization

/// Hands the attachments of new items to a `TransferWorker`, and removes those of items that are no longer stored. A
/// fetch does not wait for downloads: it ends when the items are stored.
///
/// A mark in the folder of the files records the version up to which items have been handed over. The next process
/// hands over the items that an earlier one has missed.
///
///     let worker = WorkerProcess(
///       executable: URL(filePath: "/usr/local/bin/tidings-fetch"),
///       arguments: ["--store", folder.path(percentEncoded: false), "worker"])
///     let policy = AttachmentPolicy(.thumbnails)
///     let downloads = try AttachmentDownloads(news, policy: policy) { try worker.start() }
///     await news.performFetch()
///     for attachment in try news.allNewsItems.flatMap(\.attachments) {
///       if let file = downloads.file(of: attachment) { print(file.path(percentEncoded: false)) }
///     }
public final class AttachmentDownloads: Sendable {
  private let client: NewsFetcher
  private let policy: AttachmentPolicy
  private let journal: TransferJournal
  private let folder: URL
  private let startWorker: @Sendable () throws -> Void
  private let observation = Mutex<ObservationToken?>(nil)

  /// The maximum wait for another handover, which may belong to another process of the store.
  private static let handoverTimeout = Duration.seconds(10)
  /// The seconds for which a download is tried. Older news are rarely read.
  static let timeout = 86_400.0
  /// The maximum time without any response to attempts, in seconds.
  static let noResponseTimeout = 3_600.0
  /// The number of bytes that a file of unknown length counts for in the total, until its length is known.
  private static let estimatedBytes = 1 << 20

  /// Observes the changes of a client, and hands over the items that an earlier process has left.
  ///
  /// - Parameters:
  ///   - client: The client whose items have the attachments.
  ///   - policy: The wanted files.
  ///   - startWorker: Starts a process that runs a `TransferWorker` for the client's store; see `WorkerProcess`.
  /// - Throws: `FetchError` with `storage`.
  public init(
    _ client: NewsFetcher, policy: AttachmentPolicy, startWorker: @escaping @Sendable () throws -> Void
  ) throws {
    (self.client, self.policy, self.startWorker) = (client, policy, startWorker)
    folder = client.configuration.folder.appending(path: "attachments", directoryHint: .isDirectory)
    journal = try TransferJournal(store: client.configuration.folder, log: client.log)
    let token = try client.token
    let observation = client.changes.add { [weak self] _ in self?.handOver() }
    self.observation.withLock { $0 = observation }
    switch mark {
    // Files are wanted from now on, but not those of items that are already stored.
    case nil: try setMark(Mark(token: token))
    case let mark? where mark.token != token: handOver()
    default: break
    }
  }

  /// Returns the local file of an attachment; nil if it has not been downloaded.
  public func file(of attachment: Attachment) -> URL? {
    Self.file(of: attachment, store: client.configuration.folder)
  }

  /// Returns the local file of an attachment in a store; nil if it has not been downloaded.
  package static func file(of attachment: Attachment, store: URL) -> URL? {
    let location = store.appending(path: "attachments", directoryHint: .isDirectory).appending(
      path: name(of: attachment), directoryHint: .notDirectory)
    return location.exists ? location : nil
  }

  /// Returns the local path, named after the digest of the content or else that of the address.
  private func location(of attachment: Attachment) -> URL {
    folder.appending(path: Self.name(of: attachment), directoryHint: .notDirectory)
  }

  private static func name(of attachment: Attachment) -> String {
    attachment.sha256?.lowercased().wholeMatch(of: /[0-9a-f]{64}/).map { String($0.output) }
      ?? SHA256.hash(data: Data(attachment.url.utf8)).hexadecimal
  }

  /// The version up to which items have been handed over.
  private struct Mark: Codable {
    /// The token of the store; nil if nothing was stored.
    var token: SyncToken?
  }

  private var markFile: URL { folder.appending(path: ".handed-over", directoryHint: .notDirectory) }

  /// The stored mark; nil if it is missing or unreadable.
  private var mark: Mark? { try? DurableFile(url: markFile).read(Mark.self) }

  private func setMark(_ mark: Mark) throws {
    do {
      try folder.createPrivateFolder()
      try DurableFile(url: markFile).write(mark)
    } catch {
      throw FetchError(.storage, "cannot write to the folder of attachments: \(StorageFailure.reason(error))")
    }
  }

  private func handOver() {
    let tasks = client.application.backgroundTasks
    let task = tasks.begin("attachments")
    Task {
      defer { tasks.end(task) }
      do {
        try folder.createPrivateFolder()
        // Handovers of successive fetches, and of other processes that have heard of the same fetch, follow each other.
        let lock = FetchLock(path: folder.appending(path: ".lock").path(percentEncoded: false))
        guard let held = try await lock.acquire(within: Self.handoverTimeout) else { return }
        defer { held.release() }
        // The token is read before the items. An item that is stored meanwhile is handed over again.
        let token = try client.token
        try add(try newItems())
        try setMark(Mark(token: token))
        try removeUnused()
      } catch {
        client.log("attachments: \(error)")
      }
    }
  }

  /// Returns the stored items that have changed since the mark.
  private func newItems() throws -> [NewsItem] {
    guard let held = mark?.token, held.epoch == (try client.token)?.epoch else { return try client.allNewsItems }
    return try client.store.read { db in
      try Data.fetchAll(
        db, sql: "SELECT json FROM items WHERE version > ? ORDER BY date DESC, id DESC", arguments: [held.version])
    }.map { try NewsJSON.decode(NewsItem.self, from: $0) }
  }

  private func add(_ items: [NewsItem]) throws {
    let pending = try journal.transfers().filter { !$0.state.isOver && $0.request.file != nil }
    var destinations = Set(pending.compactMap(\.request.file))
    var reserved = (files: pending.count, bytes: pending.reduce(0) { $0 + Self.expectedBytes($1) })
    var isNew = false
    for wanted in items.flatMap({ policy.wanted(of: $0) }) {
      let (attachment, location) = (wanted.attachment, location(of: wanted.attachment))
      let bytes = wanted.budget == nil ? wanted.maximumBytes : min(Self.estimatedBytes, wanted.maximumBytes)
      guard let url = policy.location(of: attachment, server: client.configuration.feed.server),
        file(of: attachment) == nil, reserved.bytes + bytes <= policy.maximumTotalBytes,
        reserved.files < policy.maximumFiles, destinations.insert(location).inserted
      else { continue }
      reserved = (reserved.files + 1, reserved.bytes + bytes)
      var request = TransferRequest(download: url, to: location)
      (request.sha256, request.mediaType) = (attachment.sha256, attachment.type)
      (request.maximumBytes, request.budget) = (Int64(wanted.maximumBytes), wanted.budget)
      (request.timeout, request.noResponseTimeout) = (.seconds(Self.timeout), .seconds(Self.noResponseTimeout))
      request.isDiscretionary = client.application.currentState != .foreground
      try journal.resume(try journal.add(request, description: wanted.description).number, at: client.clock.now)
      isNew = true
    }
    guard isNew else { return }
    evict(for: reserved)
    try startWorker()
  }

  /// Returns the number of bytes that a pending download counts for.
  private static func expectedBytes(_ transfer: Transfer) -> Int {
    let maximum = Int(transfer.request.maximumBytes ?? 0)
    return transfer.request.budget == nil ? maximum : transfer.total.map { Int($0) } ?? min(estimatedBytes, maximum)
  }

  /// Evicts the oldest files until further files are within the limits.
  private func evict(for further: (files: Int, bytes: Int)) {
    let keys: [URLResourceKey] = [.fileSizeKey, .contentModificationDateKey]
    let files =
      (try? FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: keys, options: .skipsHiddenFiles)) ?? []
    let known = files.map { file in
      let values = try? file.resourceValues(forKeys: Set(keys))
      return (file: file, bytes: values?.fileSize ?? 0, date: values?.contentModificationDate ?? .distantPast)
    }
    var total = known.reduce(further.bytes) { $0 + $1.bytes }
    var count = known.count + further.files
    for (file, size, _) in known.sorted(by: { $0.date < $1.date })
    where total > policy.maximumTotalBytes || count > policy.maximumFiles {
      try? FileManager.default.removeItem(at: file)
      total -= size
      count -= 1
    }
  }

  /// Removes the files and downloads that no stored item refers to. A feed without a window keeps all files.
  private func removeUnused() throws {
    guard case .window = client.configuration.feed.extent else { return }
    let used = Set(try client.allNewsItems.flatMap(\.attachments).map { location(of: $0).lastPathComponent })
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
