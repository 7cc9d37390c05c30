import Crypto
import Foundation
import News
import NewsPages
import NewsStore

/// The topics of a state, whose titles all pages show, and the forms of items with these titles.
struct PageTopics: Sendable {
  /// The topics in the order of the navigation.
  let all: [PageTopic]
  /// All that determines pages besides their items and lists.
  let identity: [UInt8]
  /// The stories of a list. The picture of the first one is loaded at once.
  let stories: FragmentForms
  /// The page of an item.
  let page: FragmentForm

  private let titles: TopicTitles

  init(_ titles: TopicTitles, _ renderer: PageRenderer) {
    self.titles = titles
    let all = titles.topics.map { PageTopic(slug: $0.slug, titles: $0.titles) }
    var identity = renderer.identity
    for topic in all {
      identity.append(counted: topic.slug)
      for (language, title) in topic.titles.sorted(by: { $0.key < $1.key }) {
        identity.append(counted: language)
        identity.append(counted: title)
      }
      identity.append(counted: nil)
    }
    let name = String(base64URL: SHA256.hash(data: identity).prefix(16))
    func story(isFirst: Bool) -> FragmentForm {
      FragmentForm(name: "story \(isFirst) \(name)", html: false) {
        Array(renderer.story($0, isFirst: isFirst, topics: all).utf8)
      }
    }
    stories = FragmentForms(first: story(isFirst: true), others: story(isFirst: false))
    page = FragmentForm(name: "page \(name)", html: true) { Array(renderer.page(of: $0, topics: all).utf8) }
    (self.all, self.identity) = (all, identity)
  }

  /// The time of the last change of the topics.
  var changed: Date { titles.changed }

  func areCurrent(in snapshot: FeedSnapshot) -> Bool { titles.areCurrent(in: snapshot) }

  /// Whether all topics of a scope exist. The scope of a deleted topic remains.
  func include(_ scope: Scope) -> Bool {
    scope.topics.allSatisfy { slug in all.contains { $0.slug == slug } }
  }

  /// The version of a page with items of a version and these titles.
  func version(of items: FeedVersion) -> FeedVersion {
    FeedVersion(epoch: items.epoch, version: items.version, topicsRevision: titles.feedVersion.topicsRevision)
  }

  /// Returns a view whose items are of the same epoch.
  ///
  /// - Throws: `Representation.OutOfDate` if a restore of the database came in between.
  func checked(_ view: View) throws -> View {
    guard view.feedVersion.epoch == titles.feedVersion.epoch else { throw Representation.OutOfDate() }
    return view
  }
}

extension [UInt8] {
  /// Appends a text with its length, so that different sequences of texts differ.
  mutating func append(counted text: String?) {
    self += (text.map { "\($0.utf8.count):\($0)" } ?? "-").utf8
  }
}
