import Foundation
import GRDB
import HTTPTransfer
import News

/// The notifications that are to be delivered and those that were, within a transaction.
///
/// A fetch records the items to mention in the transaction of the items. They are removed once they were mentioned, so
/// that a process that is killed between both leaves them to the next delivery.
struct NotificationJournal {
  /// A way in which the user hears of items.
  enum Channel: String, CaseIterable {
    case desktop, program
  }

  /// A delivered notification that has to be replaced or withdrawn.
  struct Correction {
    var request: NotificationRequest
    var handle: String
    /// The date of the delivery.
    var delivered: Date
    /// Whether the item was retracted.
    var isWithdrawal: Bool
  }

  /// The age from which items are no longer mentioned, in seconds: two days. A desktop that was away for a week does not
  /// begin with the news of that week.
  static let maximumAge = 172_800.0
  /// The maximum number of delivered notifications.
  static let maximumDelivered = 200
  /// The maximum number of removed items that are remembered.
  static let maximumPast = 5000

  let db: Database

  init(_ db: Database) { self.db = db }

  /// Adds the tables.
  static func addTables(_ db: Database) throws {
    try db.execute(
      sql: """
        -- New items that a channel has not mentioned yet.
        CREATE TABLE unmentioned (
          id TEXT PRIMARY KEY NOT NULL, date INTEGER NOT NULL, breaking INTEGER NOT NULL, since REAL NOT NULL,
          json BLOB NOT NULL, desktop INTEGER NOT NULL, program INTEGER NOT NULL
        ) WITHOUT ROWID;
        -- The delivered notifications. The change is 'replace' or 'withdraw' while the desktop still shows the previous
        -- form.
        CREATE TABLE notifications (
          identifier TEXT PRIMARY KEY NOT NULL, json BLOB NOT NULL, due REAL NOT NULL, delivered REAL, handle TEXT,
          change TEXT, is_read INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        -- The last items that were removed, which are not new when they return.
        CREATE TABLE past_items (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE);
        """)
    try addTrigger(db)
  }

  /// Adds the table of requests, which were rows of the delivered notifications without a date before.
  static func addRequests(_ db: Database) throws {
    try db.execute(
      sql: """
        -- Requests before their delivery. The desktop may show a notification with the same identifier meanwhile.
        CREATE TABLE requests (identifier TEXT PRIMARY KEY NOT NULL, json BLOB NOT NULL, due REAL NOT NULL) WITHOUT ROWID;
        INSERT INTO requests SELECT identifier, json, due FROM notifications WHERE delivered IS NULL;
        DELETE FROM notifications WHERE delivered IS NULL AND handle IS NULL;
        -- The content of these is lost. The column 'due' stays for running processes of an older version.
        UPDATE notifications SET delivered = min(due, strftime('%s', 'now') + 0) WHERE delivered IS NULL;
        """)
  }

  /// Adds the trigger that records removed items.
  static func addTrigger(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TRIGGER items_past AFTER DELETE ON items BEGIN
          INSERT OR REPLACE INTO past_items (id) VALUES (OLD.id);
          DELETE FROM past_items WHERE number <= (SELECT max(number) FROM past_items) - \(maximumPast);
        END;
        """)
  }

  /// Records removed items, as the trigger does.
  func addPast(_ ids: some Sequence<UUID>) throws {
    for id in ids {
      try db.execute("INSERT OR REPLACE INTO past_items (id) VALUES (?)", id.key)
    }
    try db.execute(
      sql: "DELETE FROM past_items WHERE number <= (SELECT max(number) FROM past_items) - \(Self.maximumPast)")
  }

  /// Whether there is anything to deliver, now or later.
  var isEmpty: Bool {
    get throws {
      let sql = """
        SELECT NOT EXISTS (SELECT 1 FROM unmentioned)
          AND NOT EXISTS (SELECT 1 FROM requests) AND NOT EXISTS (SELECT 1 FROM notifications WHERE change IS NOT NULL)
        """
      return try Bool.fetchOne(db, sql: sql) ?? true
    }
  }
}

/// New items.
extension NotificationJournal {
  /// Records new items that channels have to mention, without those that were stored before. The desktop does not mention an
  /// item again whose alert was shown before its fetch.
  func add(_ items: [NewsItem], for channels: Set<Channel>, at now: Date) throws {
    for item in items where !(try wasStored(item.id)) {
      let channels = try hasNotification(item.id) ? channels.subtracting([.desktop]) : channels
      if channels.isEmpty { continue }
      try db.execute(
        "INSERT OR REPLACE INTO unmentioned VALUES (?, ?, ?, ?, ?, ?, ?)",
        item.id.key, SyncState.Keyset(item).date, item.breaking, now.timeIntervalSince1970, try NewsJSON.encode(item),
        channels.contains(.desktop), channels.contains(.program))
    }
  }

  /// Follows the changes of a fetch: corrects or forgets items that were not mentioned yet and alerts that wait, and marks
  /// shown breaking items for a replacement or a withdrawal.
  func apply(_ changes: ItemChanges) throws {
    for item in changes.updated {
      try db.execute(
        "UPDATE unmentioned SET date = ?, breaking = ?, json = ? WHERE id = ?",
        SyncState.Keyset(item).date, item.breaking, try NewsJSON.encode(item), item.id.key)
      let request = NewsNotification(about: item).request
      if var waiting = try waitingRequest(item.id) {
        (waiting.title, waiting.body) = (request.title, request.body)
        (waiting.urgency, waiting.category) = (request.urgency, request.category)
        try db.execute("UPDATE requests SET json = ? WHERE identifier = ?", try json(waiting), waiting.identifier)
      }
      guard let shown = try shownRequest(item.id, isUnread: true), shown.urgency == .critical else { continue }
      if request != shown { try change(request, "replace") }
    }
    for id in changes.removed { try retract(id) }
  }

  /// Forgets an item that was retracted, stored or not, and marks its notification for a withdrawal.
  func retract(_ id: UUID) throws {
    try db.execute("DELETE FROM unmentioned WHERE id = ?", id.key)
    try remove([NewsNotification.identifier(of: id)])
    if let shown = try shownRequest(id, isUnread: false) { try change(shown, "withdraw") }
  }

  /// Returns the items that a channel has not mentioned yet, newest first.
  func unmentioned(_ channel: Channel, onlyBreaking: Bool) throws -> [NewsItem] {
    let condition = onlyBreaking ? "AND breaking" : ""
    return try Data.fetchAll(
      db, sql: "SELECT json FROM unmentioned WHERE \(channel.rawValue) \(condition) ORDER BY date DESC, id DESC"
    ).map { try NewsJSON.decode(NewsItem.self, from: $0) }
  }

  /// Records that a channel has mentioned items.
  func mentioned(_ ids: some Sequence<UUID>, by channel: Channel) throws {
    for id in ids {
      try db.execute("UPDATE unmentioned SET \(channel.rawValue) = 0 WHERE id = ?", id.key)
    }
    try forgetMentioned()
  }

  /// Forgets the new items that no channel has to mention any more.
  private func forgetMentioned() throws {
    try db.execute(sql: "DELETE FROM unmentioned WHERE NOT desktop AND NOT program")
  }

  /// Forgets all new items, because the user follows another feed or has read them.
  func forgetItems() throws {
    try db.execute(sql: "DELETE FROM unmentioned")
    try forgetAlerts()
    // A notification that the user has closed must not appear again because the item is corrected.
    try db.execute(sql: "UPDATE notifications SET is_read = 1 WHERE NOT is_read")
  }

  /// Forgets new items, because the user has read them.
  func forgetItems(_ ids: some Sequence<UUID>) throws {
    for id in ids {
      try db.execute("DELETE FROM unmentioned WHERE id = ?", id.key)
      try db.execute("UPDATE notifications SET is_read = 1 WHERE identifier = ?", NewsNotification.identifier(of: id))
    }
    try forgetAlerts(about: Set(ids))
  }

  /// Forgets alerts that wait, because of quiet hours or a failure. A request with a date is a reminder, and stays.
  private func forgetAlerts(about ids: Set<UUID>? = nil, until due: Date? = nil) throws {
    for request in try pending(due: due) where request.deliveryDate == nil {
      let id = NotificationActivation(identifier: request.identifier).itemID
      if let id, ids?.contains(id) ?? true { try remove([request.identifier]) }
    }
  }

  /// Forgets the new items of channels that are off.
  func forgetItems(except channels: Set<Channel>) throws {
    for channel in Channel.allCases where !channels.contains(channel) {
      try db.execute(sql: "UPDATE unmentioned SET \(channel.rawValue) = 0")
    }
    if !channels.contains(.desktop) { try forgetAlerts() }
    try forgetMentioned()
  }

  /// Forgets new items that have become too old.
  func forgetOldItems(at now: Date) throws {
    try db.execute("DELETE FROM unmentioned WHERE since < ?", now.timeIntervalSince1970 - Self.maximumAge)
    try forgetAlerts(until: now - Self.maximumAge)
  }

  private func wasStored(_ id: UUID) throws -> Bool {
    try db.exists("past_items WHERE id = ?", id.key)
  }

  private func hasNotification(_ id: UUID) throws -> Bool {
    if try waitingRequest(id) != nil { return true }
    return try db.exists("notifications WHERE identifier = ?", NewsNotification.identifier(of: id))
  }

  /// Returns the request about an item before its delivery.
  private func waitingRequest(_ id: UUID) throws -> NotificationRequest? {
    try request(about: id, "SELECT json FROM requests WHERE identifier = ?")
  }

  /// Returns the notification about an item that the desktop may still show.
  ///
  /// - Parameter isUnread: Whether the user must not have read the news since.
  private func shownRequest(_ id: UUID, isUnread: Bool) throws -> NotificationRequest? {
    let condition = isUnread ? "AND NOT is_read AND change IS NOT 'withdraw'" : ""
    return try request(
      about: id, "SELECT json FROM notifications WHERE identifier = ? AND handle IS NOT NULL \(condition)")
  }

  private func request(about id: UUID, _ sql: String) throws -> NotificationRequest? {
    try db.value(sql, NewsNotification.identifier(of: id))
  }

  private func change(_ request: NotificationRequest, _ change: String) throws {
    try db.execute(
      "UPDATE notifications SET json = ?, change = ? WHERE identifier = ?",
      try json(request), change, request.identifier)
  }
}

/// Requests and delivered notifications.
extension NotificationJournal {
  /// Stores a request, and replaces one with the same identifier.
  func add(_ request: NotificationRequest, at now: Date) throws {
    try db.execute(
      "INSERT OR REPLACE INTO requests VALUES (?, ?, ?)",
      request.identifier, try json(request), (request.deliveryDate ?? now).timeIntervalSince1970)
  }

  /// Returns the requests before their delivery, the next one first.
  ///
  /// - Parameter due: The date until which they are due; nil for all.
  func pending(due: Date? = nil) throws -> [NotificationRequest] {
    try db.values(
      "SELECT json FROM requests WHERE due <= ? ORDER BY due, identifier", due?.timeIntervalSince1970 ?? .infinity)
  }

  /// Returns the delivered notifications, newest first.
  func delivered() throws -> [DeliveredNotification] {
    try Row.fetchAll(
      db,
      sql: """
        SELECT json, delivered FROM notifications WHERE delivered IS NOT NULL AND change IS NOT 'withdraw'
        ORDER BY delivered DESC, identifier
        """
    ).compactMap { row in
      guard let request = try? JSONDecoder().decode(NotificationRequest.self, from: row["json"]) else { return nil }
      return DeliveredNotification(request: request, date: Date(timeIntervalSince1970: row["delivered"]))
    }
  }

  /// Returns the handle of the notification with an identifier.
  func handle(of identifier: String) throws -> String? {
    try String.fetchOne(db, sql: "SELECT handle FROM notifications WHERE identifier = ?", arguments: [identifier])
  }

  /// Returns the delivered notifications to replace and to withdraw.
  func corrections() throws -> [Correction] {
    try Row.fetchAll(
      db,
      sql: "SELECT json, handle, delivered, change FROM notifications WHERE change IS NOT NULL"
    ).compactMap { row in
      guard let request = try? JSONDecoder().decode(NotificationRequest.self, from: row["json"]),
        let handle = row["handle"] as String?
      else { return nil }
      let delivered = Date(timeIntervalSince1970: row["delivered"] ?? 0)
      return Correction(
        request: request, handle: handle, delivered: delivered, isWithdrawal: row["change"] == "withdraw")
    }
  }

  /// Records a delivery, and forgets the oldest deliveries. A request that the app has replaced meanwhile stays pending, and
  /// a notification that was removed meanwhile is withdrawn.
  ///
  /// - Parameter items: The items that the notification mentions; empty for a request.
  func recordDelivery(of request: NotificationRequest, about items: [NewsItem], handle: String?, at now: Date) throws {
    let (date, ids) = (now.timeIntervalSince1970, items.map(\.id))
    let waiting = try unmentioned(.desktop, onlyBreaking: false).filter { ids.contains($0.id) }
    let pending = try pending().first { $0.identifier == request.identifier }
    let isWanted = items.isEmpty ? pending != nil : !waiting.isEmpty
    try db.execute(
      """
      INSERT OR REPLACE INTO notifications (identifier, json, due, delivered, handle, change)
      VALUES (?, ?, ?, ?, ?, ?)
      """, request.identifier, try json(request), date, date, handle, isWanted || handle == nil ? nil : "withdraw")
    // The stored bytes may be those of an older version.
    if pending == request { try remove([request.identifier]) }
    // The item may have been corrected meanwhile.
    var changes = ItemChanges()
    if ids.count == 1 { changes.updated = waiting }
    try apply(changes)
    try mentioned(ids, by: .desktop)
    try db.execute(
      sql: """
        DELETE FROM notifications WHERE identifier IN (
          SELECT identifier FROM notifications ORDER BY delivered DESC LIMIT -1 OFFSET \(Self.maximumDelivered)
        )
        """)
  }

  /// Records that a correction was made.
  ///
  /// - Parameter handle: The handle of the replacement; nil if the notification is not shown any more.
  func recordCorrection(_ correction: Correction, handle: String?) throws {
    let identifier = correction.request.identifier
    if correction.isWithdrawal {
      try db.execute("DELETE FROM notifications WHERE identifier = ?", identifier)
    } else {
      // The item may have changed again meanwhile. The stored bytes may be those of an older version.
      let isLast = try corrections().contains { $0.request == correction.request }
      try db.execute(
        """
        UPDATE notifications SET handle = ?, change = iif(?, NULL, change)
        WHERE identifier = ? AND change = 'replace'
        """, handle, isLast, identifier)
      try db.execute(sql: "UPDATE notifications SET change = NULL WHERE handle IS NULL")
    }
  }

  /// Removes requests before their delivery.
  ///
  /// - Parameter identifiers: The identifiers; nil for all.
  func remove(_ identifiers: [String]?) throws {
    for identifier in try identifiers ?? pending().map(\.identifier) {
      try db.execute("DELETE FROM requests WHERE identifier = ?", identifier)
    }
  }

  /// Marks delivered notifications for a withdrawal.
  ///
  /// - Parameter identifiers: The identifiers; nil for all.
  func withdraw(_ identifiers: [String]?) throws {
    for identifier in try identifiers ?? delivered().map(\.request.identifier) {
      try db.execute(
        "UPDATE notifications SET change = 'withdraw' WHERE identifier = ? AND handle IS NOT NULL", identifier)
      try db.execute("DELETE FROM notifications WHERE identifier = ? AND handle IS NULL", identifier)
    }
  }

  /// Returns the date of the next request after a date; nil if there is none.
  func nextDue(after date: Date) throws -> Date? {
    try Double.fetchOne(
      db, sql: "SELECT min(due) FROM requests WHERE due > ?",
      arguments: [date.timeIntervalSince1970]
    ).map { Date(timeIntervalSince1970: $0) }
  }

  /// Encodes a request. Equal requests give equal bytes.
  private func json(_ request: NotificationRequest) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(request)
  }
}
