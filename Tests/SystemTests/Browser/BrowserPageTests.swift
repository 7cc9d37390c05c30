import Foundation
import TestSupport
import Testing

/// All pages of the console and for readers: accessibility, width, weight, and pictures of them. `make test` checks
/// each of them once.
@Suite(.enabled(if: BrowserDriver.runsAllTests || BrowserDriver.isInstalled, "needs Chromium and packages of PyPI"))
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
    "subscription-preview", "subscription-errors", "subscription-removal",
    "pushes-empty", "pushes", "alert", "alert-asked", "push", "pushes-alerts", "webhooks-empty", "webhooks", "webhook",
    "webhook-edit", "webhook-rotate", "webhook-remove", "webhook-new", "webhook-errors", "webhook-secret", "keys",
    "key-new", "key-errors",
    "key-secret", "key-rotate", "key-revoke", "live-empty", "live", "sessions",
    "reader", "reader-topic", "reader-item", "reader-gone", "reader-not-found",
    "foreign-form", "changed", "retract-changed", "editor-gone", "paused", "editor-many-errors", "forbidden",
    "no-database", "reader-no-database", "sign-in-limit",
  ]

  /// Returns the width of a picture, in pixels; nil if it is not a PNG.
  private func width(of picture: URL) -> Int32? {
    guard let data = try? Data(contentsOf: picture), data.count > 24,
      data.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    else { return nil }
    return data[data.startIndex + 16..<data.startIndex + 20].reduce(0) { $0 << 8 | Int32($1) }
  }

  /// Runs the body with a driver whose server uses FCM, at an address where nothing answers.
  private func withPushes(
    _ name: String, language: String = "en", _ body: @Sendable (BrowserDriver) async throws -> Void
  ) async throws {
    try await withFolder([:]) { folder in
      let key = folder.appending(path: "key.pem").path
      let made = try await ChildProcess(
        ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key],
        executable: "/usr/bin/openssl", environment: [:]
      ).result()
      try #require(made.status == 0, "\(made.errors)")
      let service = "http://127.0.0.1:9"
      let account = try JSONEncoder().encode([
        "type": "service_account", "project_id": "example-news", "client_email": "push@example.org",
        "private_key": try String(contentsOfFile: key, encoding: .utf8), "token_uri": "\(service)/token",
      ])
      let file = folder.appending(path: "account.json")
      try account.write(to: file)
      let settings = ["TIDINGS_FCM_CREDENTIALS": file.path, "TIDINGS_FCM_URL": service]
      try await BrowserDriver.with(name, language: language, settings: settings, body)
    }
  }

  /// Checks the results of a scenario.
  ///
  /// - Parameter widths: The widths of the pictures of a page, in pixels, in their order.
  private func check(_ steps: [BrowserDriver.Step], of driver: BrowserDriver, widths: [Int32]) {
    let pages = steps.filter { $0.step == "page" }
    #expect(Set(Self.names).subtracting(pages.compactMap(\.name)) == [])
    for page in pages {
      let name = page.name ?? "unnamed"
      for fault in page.faults ?? ["there is no result"] { Issue.record("\(name): \(fault)") }
      let bytes = page.bytes ?? 0
      #expect(bytes > 1000 && bytes <= Self.maximumBytes, "\(name)")
      let pictures = (page.pictures ?? []).map { driver.pictures.appending(path: $0) }
      #expect(pictures.compactMap(width) == widths, "\(name)")
    }
  }

  @Test(
    "Each page fits 360 pixels, is light and accessible, and loads nothing from elsewhere",
    .enabled(if: !BrowserDriver.runsAllTests, "make test"))
  func glance() async throws {
    try await withPushes("glance") { driver in
      check(try await driver.run("glance"), of: driver, widths: [360])
    }
  }

  @Test(
    "Pages fit from 360 pixels on, are light and accessible, and load nothing from elsewhere, also without JavaScript",
    .enabled(if: BrowserDriver.runsAllTests, "make browser"), arguments: [("en", true), ("de", true), ("en", false)])
  func pages(language: String, javascript: Bool) async throws {
    let name = javascript ? language : "\(language)-without-javascript"
    try await withPushes(name, language: language) { driver in
      let steps = try await driver.run("pages", javascript: javascript)
      // The pictures are light, then dark.
      check(steps, of: driver, widths: Self.widths + Self.widths)
      for step in steps where step.step == "page" {
        #expect(step.stops?.isEmpty == false, "\(step.name ?? "unnamed")")
      }
    }
  }

  @Test("The checks find each fault of a page that has them", .enabled(if: BrowserDriver.runsAllTests, "make browser"))
  func faults() async throws {
    try await BrowserDriver.with("faults") { driver in
      let step = try #require(try await driver.run("faults").first)
      let faults = try #require(step.faults)
      for fault in [
        "loaded from elsewhere: http://127.0.0.1:9/elsewhere.png", "console: http://127.0.0.1:9/elsewhere.png",
        "360: too wide: 2008 > 360", "1400: too wide: 2008 > 1400", "360: the head takes more than one row",
        "360 light: color-contrast: body > p: ",
        "1400 dark: image-alt: img: ", "360 light: label: input: ", "360 light: html-has-lang: html: ",
        "keyboard: a# “Without outline” has no outline", "keyboard: a# “Without outline” is covered",
        "keyboard: Tab does not reach button# “First, though second”",
      ] {
        #expect(faults.contains { $0.hasPrefix(fault) }, "\(fault)")
      }
    }
  }
}
