public import NewsFeeds

/// Finds the topics of the categories of feeds, so that different names have different topics.
///
/// A name has the topic of its slug, unless that topic has the title of another name which makes the same slug, as "C#"
/// finds the topic `c` of "C". It then has a topic of its own, whose slug ends with a part of the name's digest. A topic
/// whose title an editor has changed keeps its name, because the new title makes another slug.
public struct TopicNames: Sendable {
  /// The names of the titles of each topic.
  private var titles: [String: Set<String>] = [:]
  /// The topics by name that were found before.
  private var found: [String: String] = [:]

  /// - Parameter existing: The titles of the topics that exist, by slug.
  public init(_ existing: [String: [String]] = [:]) {
    add(existing)
  }

  /// Adds topics that exist.
  public mutating func add(_ existing: [String: [String]]) {
    for (slug, texts) in existing { titles[slug, default: []].formUnion(texts.map(Slug.name)) }
  }

  /// Whether the topic of a category is known from an earlier call.
  public func knows(_ category: FeedCategory) -> Bool { found[Slug.name(category.label)] != nil }

  /// Returns the slug of a category's topic, which may not exist yet.
  public mutating func slug(for category: FeedCategory) -> String {
    let name = Slug.name(category.label)
    if let slug = found[name] { return slug }
    let slug = isFree(category.slug, for: category.label, name) ? category.slug : Slug.distinct(category.label)
    titles[slug, default: []].insert(name)
    found[name] = slug
    return slug
  }

  private func isFree(_ slug: String, for label: String, _ name: String) -> Bool {
    // A slug that is not made from the name means its topic, as in JSON Lines and OPML.
    if label == slug || Slug.make(label) != slug { return true }
    if titles[Slug.distinct(label)] != nil { return false }
    guard let names = titles[slug], !names.contains(name) else { return true }
    return !names.contains { Slug.make($0) == slug }
  }

  /// Returns categories with those first whose name is written like their slug. They have the better claim to it.
  public static func ordered(_ categories: [FeedCategory]) -> [FeedCategory] {
    let isPlain = { (category: FeedCategory) in
      Slug.name(category.label).split(separator: " ").joined(separator: "-") == category.slug
    }
    return categories.filter(isPlain) + categories.filter { !isPlain($0) }
  }
}
