import BackgroundFetch
import Crypto
public import Foundation
import GRDB
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
  /// How many bytes of all items together at the most. The oldest files make room for new ones.
  public var mostBytesOfAll: Int
  /// Whether files are taken from other servers although the news come over https. Another server learns who reads what.
  public var allowsOtherServers = false

  /// A policy.
  ///
  /// - Parameters:
  ///   - selection: Which of an item's files.
  ///   - mostBytes: The limit for an item.
  ///   - mostBytesOfAll: The limit for all items together.
  public init(_ selection: Selection, mostBytes: Int = 10 << 20, mostBytesOfAll: Int = 200 << 20) {
    self.selection = selection
    self.mostBytes = mostBytes
    self.mostBytesOfAll = mostBytesOfAll
  }

  /// Where a file is downloaded from.
  ///
  /// - Returns: nil for anything but http and https, and for what would come over a worse channel than the news.
  package func location(of attachment: Attachment, server: URL) -> URL? {
    guard let url = URL(string: attachment.url, relativeTo: server)?.absoluteURL, url.user() == nil,
      let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme)
    else { return nil }
    guard server.scheme?.lowercased() == "https" else { return url }
    let isOwn = url.host()?.lowercased() == server.host()?.lowercased() && url.port ?? 443 == server.port ?? 443
    return scheme == "https" && (isOwn || allowsOtherServers) ? url : nil
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
///
/// A mark in the folder of the files says up to which version items have been handed over. What a process could not hand
/// over any more, the next one does.
public final class AttachmentDownloads: Sendable {
  private let client: NewsFetcher
  private let policy: AttachmentPolicy
  private let journal: TransferJournal
  private let folder: URL
  private let startWorker: @Sendable () throws -> Void
  private let observation = Mutex<Observation?>(nil)
  /// Held while items are handed over, one fetch after the other.
  private let turn = Mutex(())

  /// For how many seconds a file is tried; a picture of old news is of no use.
  static let patience = 86_400.0
  /// For how many seconds attempts at a file may have no answer.
  static let silencePatience = 3_600.0

  /// Begins to watch what a client stores, and hands over what an earlier process has left.
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
    journal = try TransferJournal(store: client.configuration.folder, log: client.log)
    let token = try client.token
    let observation = client.changes.add { [weak self] _ in self?.handOver() }
    self.observation.withLock { $0 = observation }
    switch mark {
    // Files are wanted from now on: of what is stored already none are.
    case nil: try setMark(Mark(token: token))
    case let mark? where mark.token != token: handOver()
    default: break
    }
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

  /// Up to where items have been handed over.
  private struct Mark: Codable {
    /// nil where nothing was stored.
    var token: SyncToken?
  }

  private var markFile: URL { folder.appending(path: ".handed-over", directoryHint: .notDirectory) }

  /// nil where there is none, or none that can be read.
  private var mark: Mark? {
    (try? Data(contentsOf: markFile)).flatMap { try? JSONDecoder().decode(Mark.self, from: $0) }
  }

  private func setMark(_ mark: Mark) throws {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try JSONEncoder().encode(mark).write(to: markFile, options: .atomic)
    } catch {
      throw FetchError(.storage, "the folder of attachments cannot be written: \(StorageFailure.reason(error))")
    }
  }

  private func handOver() {
    let tasks = client.application.backgroundTasks
    let task = tasks.begin("attachments")
    Task {
      defer { tasks.end(task) }
      do {
        try turn.withLock { _ in
          // Before the items, so that one that is stored meanwhile comes again.
          let token = try client.token
          try add(try newItems())
          try setMark(Mark(token: token))
          try removeUnused()
        }
      } catch {
        client.log("attachments: \(error)")
      }
    }
  }

  /// The stored items that have changed since the mark.
  private func newItems() throws -> [NewsItem] {
    guard let held = mark?.token, held.epoch == (try client.token)?.epoch else { return try client.allNewsItems }
    return try client.store.read { db in
      try Data.fetchAll(
        db, sql: "SELECT json FROM items WHERE version > ? ORDER BY date DESC, id DESC", arguments: [held.version])
    }.map { try NewsJSON.decode(NewsItem.self, from: $0) }
  }

  private func add(_ items: [NewsItem]) throws {
    let pending = try journal.transfers().filter { !$0.state.isOver && $0.request.file != nil }
    var places = Set(pending.compactMap(\.request.file))
    var reserved = pending.reduce(0) { $0 + Int($1.request.mostBytes ?? 0) }
    var isNew = false
    for (attachment, most) in items.flatMap({ policy.wanted(of: $0) }) {
      let place = place(of: attachment)
      guard let url = policy.location(of: attachment, server: client.configuration.source.server),
        file(of: attachment) == nil, reserved + most <= policy.mostBytesOfAll, places.insert(place).inserted
      else { continue }
      reserved += most
      var request = TransferRequest(download: url, to: place)
      (request.sha256, request.mediaType, request.mostBytes) = (attachment.sha256, attachment.type, Int64(most))
      (request.patience, request.silencePatience) = (Self.patience, Self.silencePatience)
      request.isDiscretionary = client.application.currentState != .foreground
      try journal.resume(try journal.add(request, description: attachment.alt).number, at: client.clock.now)
      isNew = true
    }
    guard isNew else { return }
    makeRoom(reserved)
    try startWorker()
  }

  /// Removes the oldest files until so many bytes more are within the limit.
  private func makeRoom(_ bytes: Int) {
    let keys: [URLResourceKey] = [.fileSizeKey, .contentModificationDateKey]
    let files =
      (try? FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: keys, options: .skipsHiddenFiles)) ?? []
    let known = files.map { file in
      let values = try? file.resourceValues(forKeys: Set(keys))
      return (file: file, bytes: values?.fileSize ?? 0, date: values?.contentModificationDate ?? .distantPast)
    }
    var total = known.reduce(bytes) { $0 + $1.bytes }
    for (file, size, _) in known.sorted(by: { $0.date < $1.date }) where total > policy.mostBytesOfAll {
      try? FileManager.default.removeItem(at: file)
      total -= size
    }
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
