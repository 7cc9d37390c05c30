public import Foundation
import News

/// What can be shown without the app: the top headlines, the badge and the time, stored with the items.
public struct NewsSnapshot: Sendable, Equatable, Codable {
  /// An item as a headline.
  public struct Headline: Sendable, Equatable, Codable {
    /// The item's id.
    public var id: UUID
    /// Its title, or the beginning of its text.
    public var title: String
    /// The date of the news.
    public var date: Date
    /// Whether it is news to interrupt a reader for.
    public var breaking: Bool
  }

  /// The newest items, newest first; at most ``most``.
  public var headlines: [Headline]
  /// Items that came since the app was last opened.
  public var badge: Int
  /// When the server last answered.
  public var checked: Date?

  /// How many headlines there are at most.
  public static let most = 10
  /// Characters of a headline at most.
  static let longest = 120

  init(items: [NewsItem], badge: Int, checked: Date?) {
    headlines = items.prefix(Self.most).map { item in
      let line = item.title ?? item.text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
      let safe = line.prefix(Self.longest * 4).description.terminalSafe
      let title = safe.count > Self.longest ? safe.prefix(Self.longest - 1) + "…" : safe[...]
      return Headline(id: item.id, title: String(title), date: item.date, breaking: item.breaking)
    }
    self.badge = badge
    self.checked = checked
  }
}
