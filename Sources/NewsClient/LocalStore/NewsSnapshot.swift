public import Foundation
import News

/// The top headlines, the badge and the time of the last check, stored with the items. They can be shown without the
/// app.
///
/// The counterpart of the snapshot that iOS takes for the app switcher after a background fetch.
///
///     let snapshot = try news.snapshot
///     for headline in snapshot.headlines {
///       print(headline.breaking ? "!" : " ", headline.title)
///     }
///     print("badge \(snapshot.badge)")
public struct NewsSnapshot: Sendable, Equatable, Codable {
  /// An item as a headline.
  ///
  ///     let breaking = try news.snapshot.headlines.filter(\.breaking)
  ///     print(breaking.map(\.title).joined(separator: "\n"))
  public struct Headline: Sendable, Equatable, Codable {
    /// The item's id.
    public var id: UUID
    /// The title of the item, or the first line of its text; at most 120 characters.
    public var title: String
    /// The date of the item.
    public var date: Date
    /// Whether the item is important enough to interrupt a reader.
    public var breaking: Bool
  }

  /// The newest items, newest first; at most ``maximumHeadlines``.
  public var headlines: [Headline]
  /// The number of items that arrived after the app was last opened.
  public var badge: Int
  /// The time of the server's last response; nil before the first one.
  public var checked: Date?

  /// The maximum number of headlines.
  public static let maximumHeadlines = 10
  /// The maximum length of a headline, in characters.
  static let maximumTitleLength = 120

  init(items: [NewsItem], badge: Int, checked: Date?) {
    headlines = items.prefix(Self.maximumHeadlines).map { item in
      let line = item.title ?? item.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
      let safe = line.prefix(Self.maximumTitleLength * 4).description.terminalSafe
      let title = safe.count > Self.maximumTitleLength ? safe.prefix(Self.maximumTitleLength - 1) + "…" : safe[...]
      return Headline(id: item.id, title: String(title), date: item.date, breaking: item.breaking)
    }
    self.badge = badge
    self.checked = checked
  }
}
