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
    let base = finder.base.flatMap { SafeLink.web($0, base: address) } ?? address
    return finder.content.flatMap { target(of: $0, base: base) }
  }

  /// Returns the address to which a response leads on by its header field `Refresh` (HTML Standard, "speculative loading
  /// and refresh": browsers treat it like the element).
  ///
  /// - Parameters:
  ///   - field: The value of the field.
  ///   - page: The bytes of the response. A feed does not lead on.
  ///   - address: The address of the response after redirects.
  /// - Returns: An absolute http or https URL; nil if the response is a feed, or stays.
  public static func refresh(field: String, of page: some Collection<UInt8>, at address: String) -> String? {
    let text = String(decoding: page.prefix(1024), as: UTF8.self)
    let first = firstRoot(of: text)
    let isFeed = first.map { !pageRoots.contains($0) } ?? ["{", "<"].contains(text.trimmed.prefix(1))
    guard !isFeed, field.utf8.count <= 2 * SafeLink.maximumBytes else { return nil }
    return target(of: field, base: address)
  }

  /// Reads the content of a refresh: the seconds, and the address behind them.
  private static func target(of content: String, base: String) -> String? {
    guard
      let match = content.firstMatch(
        of: /^\s*(\d{0,9})[\d.]*(?:\s*[;,]\s*|\s+)(?:[uU][rR][lL]\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))/),
      (Int(match.1) ?? 0) <= maximumRefreshWait
    else { return nil }
    return (match.2 ?? match.3 ?? match.4)?.description.trimmed.nonEmpty.flatMap { SafeLink.web($0, base: base) }
  }

  /// Whether a text begins like a page, and not like a feed, whose entries may have pages in them.
  private static func isPage(_ text: String) -> Bool {
    guard text.prefix(maximumRefreshBytes).lowercased().contains("http-equiv") else { return false }
    return firstRoot(of: text).map(pageRoots.contains) ?? false
  }

  private static let pageRoots = ["<html", "<!doctype html", "<head", "<meta", "<title"]
  private static let feedRoots = ["<rss", "<feed", "<rdf", "<atom"]

  /// Returns the first tag of a page or a feed at the start of a text.
  private static func firstRoot(of text: String) -> String? {
    let start = text.prefix(1024).lowercased()
    let found = (pageRoots + feedRoots).compactMap { root in start.range(of: root).map { ($0.lowerBound, root) } }
    return found.min { $0.0 < $1.0 }?.1
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
