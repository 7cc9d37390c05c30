import Foundation
import PostgresClient
import TestSupport
import Testing

/// Texts that are not saved yet, and files that are dropped on pages.
@Suite(.enabled(if: BrowserDriver.runsAllTests, "make browser"))
struct BrowserWorkTests {
  @Test("Nothing that was typed is lost, with JavaScript and without", arguments: [true, false])
  func unsaved(javascript: Bool) async throws {
    try await BrowserDriver.with(javascript ? "unsaved" : "unsaved-without-javascript") { driver in
      let steps = try await driver.run("unsaved", javascript: javascript)
      let outages = javascript ? ["restored", "sent again", "sent again", "refused"] : ["kept"]
      let expected = ["signed in", "warned", "kept"] + outages + ["shown again", "focused", "still"]
      #expect(steps.map(\.step) == expected)
    }
  }

  @Test("Files can be dropped on the page of files and into the editor")
  func drops() async throws {
    try await BrowserDriver.with("drops") { driver in
      let steps = try await driver.run("drops")
      #expect(
        steps.map(\.step) == [
          "signed in", "dropped files", "refused file", "refused one of two", "kept file", "refused attachment",
          "dropped attachments",
        ])
      for step in steps where step.step.hasPrefix("refused") {
        #expect(step.text?.hasSuffix("This type of file is not accepted. Pictures, sound, video and PDF are.") == true)
      }
      // The pictures of the item are two of the three on the other page, and are stored once.
      #expect(try await driver.installation.value("SELECT count(*) FROM media") == 3)
    }
  }
}
