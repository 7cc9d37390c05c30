import Foundation
import TestSupport
import Testing

/// All pages of the console and for readers: accessibility, width, weight, and pictures of them.
@Suite(.enabled(if: BrowserDriver.isRequested, "make browser"))
struct BrowserPageTests {
  /// The maximum size of a page's HTML, styles and scripts together, in bytes before compression.
  private static let maximumBytes = 60_000
  private static let widths: [Int32] = [360, 800, 1400]
  private static let names = [
    "sign-in", "sign-in-refused", "link", "link-refused", "first-run", "session-ended", "not-found", "bad-request",
    "items-empty", "items", "items-older", "items-filtered", "items-nothing-found", "items-scheduled", "no-item",
    "editor-new", "editor-draft", "editor-review", "editor-scheduled", "editor-published", "editor-retracted",
    "editor-arabic", "editor-errors", "conflict", "history", "retract", "erase", "preview",
    "files-empty", "files", "files-unused", "topics-empty", "topics", "topic", "topic-new", "topic-errors",
    "topic-removal", "subscriptions-empty", "subscriptions", "subscription", "subscription-new",
    "subscription-preview", "subscription-errors", "subscription-removal", "keys", "key-new", "key-errors",
    "key-secret", "key-rotate", "key-revoke", "live-empty", "live", "sessions",
    "reader", "reader-topic", "reader-item", "reader-gone", "reader-not-found",
  ]

  /// Returns the width of a picture, in pixels; nil if it is not a PNG.
  private func width(of picture: URL) -> Int32? {
    guard let data = try? Data(contentsOf: picture), data.count > 24,
      data.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    else { return nil }
    return data[data.startIndex + 16..<data.startIndex + 20].reduce(0) { $0 << 8 | Int32($1) }
  }

  @Test(
    "Pages fit from 360 pixels on, are light and accessible, and load nothing from elsewhere, also without JavaScript",
    arguments: [("en", true), ("de", true), ("en", false)])
  func pages(language: String, javascript: Bool) async throws {
    let name = javascript ? language : "\(language)-without-javascript"
    try await BrowserDriver.with(name, language: language) { driver in
      let steps = try await driver.run("pages", javascript: javascript).filter { $0.step == "page" }
      #expect(Set(Self.names).subtracting(steps.compactMap(\.name)) == [])
      for step in steps {
        let name = step.name ?? "unnamed"
        for fault in step.faults ?? ["there is no result"] { Issue.record("\(name): \(fault)") }
        let bytes = step.bytes ?? 0
        #expect(bytes > 1000 && bytes <= Self.maximumBytes, "\(name)")
        #expect(step.stops?.isEmpty == false, "\(name)")
        let pictures = (step.pictures ?? []).map { driver.pictures.appending(path: $0) }
        #expect(pictures.compactMap(width) == Self.widths + Self.widths, "\(name): light and dark")
      }
    }
  }
  @Test("The checks find each fault of a page that has them")
  func faults() async throws {
    try await BrowserDriver.with("faults") { driver in
      let step = try #require(try await driver.run("faults").first)
      let faults = try #require(step.faults)
      for fault in [
        "loaded from elsewhere: http://127.0.0.1:9/elsewhere.png", "console: http://127.0.0.1:9/elsewhere.png",
        "360: too wide: 2008 > 360", "1400: too wide: 2008 > 1400", "360 light: color-contrast: p: ",
        "1400 dark: image-alt: img: ", "360 light: label: input: ", "360 light: html-has-lang: html: ",
        "keyboard: a# “Without outline” has no outline", "keyboard: a# “Without outline” is covered",
        "keyboard: Tab does not reach button# “First, though second”",
      ] {
        #expect(faults.contains { $0.hasPrefix(fault) }, "\(fault)")
      }
    }
  }
}
