import NewsFeeds
import NewsFollower
import Testing

@Suite("Topics of categories")
struct TopicNameTests {
  private func category(_ label: String) -> FeedCategory {
    FeedCategory(slug: Slug.make(label) ?? "", label: label)
  }

  @Test("are different for different names with one slug")
  func different() {
    var names = TopicNames()
    #expect(names.slug(for: category("C")) == "c")
    #expect(names.slug(for: category("C#")) == Slug.distinct("C#"))
    #expect(names.slug(for: category("C++")) == Slug.distinct("C++"))
    #expect(names.slug(for: category(" c ")) == "c")
    #expect(names.slug(for: category("Москва")) == "moskva")
    #expect(names.slug(for: category("Moskva")) == Slug.distinct("Moskva"))
  }

  @Test("are those that exist under a title, also after another name came first")
  func existing() {
    var names = TopicNames(["c": ["C++"], Slug.distinct("C"): ["C"], "moskva": ["Москва", "Moscow"]])
    #expect(names.slug(for: category("C++")) == "c")
    #expect(names.slug(for: category("C")) == Slug.distinct("C"))
    #expect(names.slug(for: category("C#")) == Slug.distinct("C#"))
    #expect(names.slug(for: category("Москва")) == "moskva")
    #expect(names.slug(for: category("Moskva")) == Slug.distinct("Moskva"))
  }

  @Test("keep their names if an editor gives them another title")
  func renamed() {
    var names = TopicNames(["sport": ["Sports & Games"], "c": ["The language"]])
    #expect(names.slug(for: category("Sport")) == "sport")
    #expect(names.slug(for: category("C")) == "c")
    // A name with a topic of its own keeps it, whatever the title of the other topic is now.
    names = TopicNames(["c": ["The language"], Slug.distinct("C"): ["C"]])
    #expect(names.slug(for: category("C")) == Slug.distinct("C"))
  }

  @Test("are named by their slugs in JSON Lines and OPML")
  func slugs() {
    var names = TopicNames(["c": ["C++"], "sport": ["Sport"]])
    #expect(names.slug(for: category("c")) == "c")
    #expect(names.slug(for: FeedCategory(slug: "sport", label: "All sports")) == "sport")
  }

  @Test("are given first to the names that are written like their slugs")
  func order() {
    let ordered = TopicNames.ordered([category("C++"), category("Local News"), category("C")])
    #expect(ordered.map(\.label) == ["Local News", "C", "C++"])
  }
}
