internal import Foundation
internal import SafeHTML

extension FeedDiscovery {
  /// The maximum number of bytes of a page that are searched for a refresh. A page that only leads on is small.
  private static let maximumRefreshBytes = 8192
  /// The longest wait of a refresh, in seconds, that leads on. Pages that are shown for longer load themselves again.
  private static let maximumRefreshWait = 30

  /// Returns the address to which a page leads on by `<meta http-equiv="refresh">` (HTML Standard section 4.2.5.3).
  ///
  /// - Parameters:
  ///   - page: The bytes of the response, of which the first 8,192 are read. Any bytes are accepted.
  ///   - address: The address of the page after redirects.
  /// - Returns: An absolute http or https URL; nil if the response is no HTML page, or stays.
  public static func refresh(of page: some Collection<UInt8>, at address: String) -> String? {
    let text = String(decoding: page.prefix(maximumRefreshBytes), as: UTF8.self)
    guard isPage(text) else { return nil }
    let finder = RefreshFinder()
    HTMLScanner.scan(text, into: finder)
    guard let content = finder.content,
      let match = content.firstMatch(
        of: /^\s*(\d{0,9})[\d.]*(?:\s*[;,]\s*|\s+)(?:[uU][rR][lL]\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))/),
      (Int(match.1) ?? 0) <= maximumRefreshWait
    else { return nil }
    let base = finder.base.flatMap { SafeLink.web($0, base: address) } ?? address
    return (match.2 ?? match.3 ?? match.4)?.description.trimmed.nonEmpty.flatMap { SafeLink.web($0, base: base) }
  }

  /// Whether a text begins like a page, and not like a feed, whose entries may have pages in them.
  private static func isPage(_ text: String) -> Bool {
    let start = text.prefix(1024).lowercased()
    guard text.prefix(maximumRefreshBytes).lowercased().contains("http-equiv") else { return false }
    let roots = ["<html", "<!doctype html", "<head", "<meta", "<title", "<rss", "<feed", "<rdf", "<atom"]
    let first = roots.compactMap { root in start.range(of: root).map { ($0.lowerBound, root) } }.min { $0.0 < $1.0 }
    return first.map { roots.prefix(5).contains($0.1) } ?? false
  }
}

/// Finds the first refresh of a page, and its base.
private final class RefreshFinder: HTMLBuilder {
  private(set) var content: String?
  private(set) var base: String?

  func start(_ name: String, _ attributes: [(name: String, value: String)]) {
    func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
    switch name {
    case "base": base = base ?? value("href")
    case "meta" where content == nil && (value("http-equiv")?.prefix(16).lowercased().trimmed) == "refresh":
      content = value("content").flatMap { $0.utf8.count <= 2 * SafeLink.maximumBytes ? $0 : nil }
    default: break
    }
  }

  func end(_ name: String) {}

  func characters(_ bytes: UnsafeBufferPointer<UInt8>) {}
}
