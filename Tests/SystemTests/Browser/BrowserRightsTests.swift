import Foundation
import TestSupport
import Testing

/// The console for keys with few rights.
@Suite(.enabled(if: BrowserDriver.runsAllTests, "make browser"))
struct BrowserRightsTests {
  @Test("No link and no button of a key's pages is refused, and no page shows what the key may not see")
  func rights() async throws {
    try await BrowserDriver.with("rights") { driver in
      let steps = try await driver.run("rights")
      for step in steps where step.step == "page" {
        for fault in step.faults ?? ["there is no result"] { Issue.record("\(step.name ?? "unnamed"): \(fault)") }
      }
      let names = Set(steps.filter { $0.step == "page" }.compactMap(\.name))
      for name in [
        "sender-live", "sender-sessions", "photographer-files", "writer-items", "writer-items-one",
        "writer-items-one-retract", "writer-topics", "reporter-items", "reporter-items-one",
        "reporter-items-one-erase", "reporter-files", "reporter-live",
      ] {
        #expect(names.contains(name), "\(name)")
      }
      let used = steps.filter { $0.step == "used" }
      #expect(used.map(\.name) == ["sender", "photographer", "writer", "reporter"])
      let actions = used.map { Set($0.actions ?? []) }
      #expect(actions[0].isEmpty && actions[1].isEmpty)
      #expect(actions[2].isSuperset(of: ["save", "review", "attach", "withdraw"]))
      #expect(actions[2].isDisjoint(with: ["publish", "schedule"]))
      #expect(actions[3].isSuperset(of: ["save", "review", "attach", "publish", "schedule", "withdraw"]))
    }
  }
}
