import Foundation
import TestSupport
import Testing

@Suite("tidings-fetch schedule install") struct InstallTests {
  @Test(
    "writes units with which systemd finds no fault, whatever the store is called",
    arguments: ["plain", #"a "b" 50% $HOME \"#])
  func units(name: String) async throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "tidings-home-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: home) }
    let environment = ["HOME": home.path, "XDG_RUNTIME_DIR": home.path, "PATH": "/usr/bin:/bin"]
    let store = home.appending(path: name).path
    let installation = try await ChildProcess(
      ["--server", "http://127.0.0.1:1", "--store", store, "schedule", "install", "--no-start"],
      executable: ChildProcess.tidings + "-fetch", environment: environment
    ).result()
    #expect(installation.status == 0)
    #expect(installation.output.contains("schedule set minimum"))
    let units = home.appending(path: ".config/systemd/user")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: units.path).sorted()
        == ["tidings-fetch.service", "tidings-fetch.timer"])
    guard let analyze = program("systemd-analyze") else { return }
    let verdict = try await ChildProcess(
      ["--user", "verify", units.path + "/tidings-fetch.service", units.path + "/tidings-fetch.timer"],
      executable: analyze, environment: environment
    ).result()
    #expect(verdict.status == 0)
    #expect(verdict.output == "")
    #expect(verdict.errors == "")
  }
}
