package import Foundation
import News

/// A notification about items of one or several fetches.
package struct NewsNotification {
  /// The maximum length of a title or a line, in characters.
  static let maximumLineLength = 120
  /// The maximum length of the text below the title of an item, in characters.
  static let maximumTextLength = 240
  /// The maximum number of titles in a group.
  static let maximumLines = 5

  let request: NotificationRequest
  /// The items that the notification is about.
  let items: [NewsItem]

  /// Composes notifications: one for each breaking item, and one for all others together.
  ///
  /// - Parameter items: The items, newest first.
  static func notifications(about items: [NewsItem]) -> [NewsNotification] {
    let others = items.filter { !$0.breaking }
    var notifications = items.filter(\.breaking).map { NewsNotification(about: $0) }
    if others.count == 1 { notifications.append(NewsNotification(about: others[0])) }
    if others.count > 1 { notifications.append(NewsNotification(aboutGroup: others)) }
    return notifications
  }

  /// Returns the identifier of the notification about an item.
  package static func identifier(of id: UUID) -> String { "item-\(id.uuidString.lowercased())" }

  /// Composes the notification about one item.
  init(about item: NewsItem) {
    // Without a title, the first line of the text is the title.
    let text = item.title == nil ? item.text.droppingFirstLine : item.text
    request = NotificationRequest(
      identifier: Self.identifier(of: item.id), title: Self.title(of: item),
      body: (item.summary ?? text).onOneLine(Self.maximumTextLength), urgency: item.breaking ? .critical : .normal,
      category: item.breaking ? "x-tidings.breaking" : "x-tidings.news")
    items = [item]
  }

  private init(aboutGroup items: [NewsItem]) {
    var lines = items.prefix(Self.maximumLines).map { Self.title(of: $0) }
    if items.count > lines.count { lines.append("and \(items.count - lines.count) more") }
    request = NotificationRequest(
      identifier: "items-\(items[0].id.uuidString.lowercased())", title: "\(items.count) new stories",
      body: lines.joined(separator: "\n"), category: "x-tidings.news")
    self.items = items
  }

  private static func title(of item: NewsItem) -> String {
    let line = item.title ?? item.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    return line.onOneLine(maximumLineLength)
  }
}

extension String {
  /// The text after the first line that is not empty.
  fileprivate var droppingFirstLine: String {
    let lines = split(maxSplits: 1, whereSeparator: \.isNewline)
    return lines.count > 1 ? String(lines[1]) : ""
  }
}

extension String {
  /// Returns the text on one line without control characters, with at most the given number of characters.
  func onOneLine(_ limit: Int) -> String {
    // A character may consist of any number of scalars.
    let safe = String(unicodeScalars.prefix(limit * 8)).terminalSafe
    return safe.count > limit ? safe.prefix(limit - 1) + "…" : safe
  }
}
