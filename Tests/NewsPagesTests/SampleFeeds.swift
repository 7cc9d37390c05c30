import NewsPages

/// The feeds of a site.
enum SampleFeeds {
  static let all = [
    PageFeed(name: "Atom", mediaType: "application/atom+xml", fileName: "feed.atom"),
    PageFeed(name: "RSS", mediaType: "application/rss+xml", fileName: "feed.rss"),
    PageFeed(name: "JSON Feed", mediaType: "application/feed+json", fileName: "feed.json"),
  ]
}
