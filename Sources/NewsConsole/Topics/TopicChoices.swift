import News
import NewsPages

/// The topics that a form offers. There may be too many for a page: others are typed.
struct TopicChoices: Sendable {
  /// The maximum number of topics that are offered, besides those that are selected.
  static let maximum = 80
  /// The length of a title in forms, in Unicode scalars.
  static let titleLength = 32

  /// The first topics in the order of the navigation, and all that are selected, even if the key may not give them any
  /// more.
  let offered: [PageTopic]
  /// Whether there are topics that are not offered.
  let hasOthers: Bool

  /// Chooses among topics.
  ///
  /// - Parameters:
  ///   - topics: The topics in the order of the navigation.
  ///   - selected: The slugs of the selected topics.
  init(_ topics: [PageTopic], selected: [String]) {
    let first = topics.prefix(Self.maximum)
    let known = Set(first.map(\.slug))
    let others = selected.filter { $0.utf8.count > Self.maximumSlugBytes || !known.contains($0) }
      .map { slug in topics.first { $0.slug == slug } ?? PageTopic(slug: slug, titles: [:]) }
    offered = first + others
    hasOthers = topics.count > Self.maximum
  }

  /// The number of topics of a form that are read, which is above that of any resource.
  private static let maximumSent = 256
  /// The maximum length of a slug in bytes.
  private static let maximumSlugBytes = 64

  /// Returns the slugs of the topics of a form, sorted and without duplicates. Texts that are too long for a slug come
  /// last, as they were sent.
  ///
  /// - Parameters:
  ///   - chosen: The values of the field `topics`.
  ///   - typed: The values of the field `otherTopics`: slugs that are separated by spaces or commas.
  static func slugs(chosen: [String], typed: [String]) -> [String] {
    let slugs = typed.flatMap { text in
      text.unicodeScalars.split(maxSplits: maximumSent) { $0.properties.isWhitespace || $0 == "," }
        .prefix(maximumSent).map { String($0) }
    }
    let sent = (chosen + slugs).prefix(maximumSent)
    // No topic has a longer slug. Hashing a text of a megabyte would take long.
    let isLong = { (slug: String) in slug.utf8.count > maximumSlugBytes }
    return Set(sent.filter { !isLong($0) }).sorted() + sent.filter(isLong)
  }
}
