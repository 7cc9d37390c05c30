import BackgroundFetch
import Foundation
import Testing

@Suite("The constraints of the machine") struct ConstraintTests {
  /// Files of a made-up sysfs.
  private func withSysfs(_ files: [String: String], _ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-sysfs-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    for (path, text) in files {
      let file = folder.appending(path: path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("\(text)\n".utf8).write(to: file)
    }
    try body(folder)
  }

  private func battery(_ name: String = "BAT0", status: String, capacity: String, scope: String? = nil) -> [String:
    String]
  {
    var files = ["type": "Battery", "status": status, "capacity": capacity]
    files["scope"] = scope
    return Dictionary(uniqueKeysWithValues: files.map { ("class/power_supply/\(name)/\($0)", $1) })
  }

  @Test("are none where nothing is known")
  func nothing() throws {
    try withSysfs([:]) { sysfs in
      #expect(SystemConstraints(sysfs: sysfs, busctl: ["/nowhere"]).current == .none)
      #expect(SystemConstraints(sysfs: sysfs, busctl: ["/bin/false"]).current == .none)
      #expect(SystemConstraints(sysfs: sysfs, busctl: []).current == .none)
    }
  }

  @Test("say that power is to be saved where a battery is low and not being charged, or the profile says so")
  func power() throws {
    func isLow(_ files: [String: String]) throws -> Bool {
      var found = false
      try withSysfs(files) { found = SystemConstraints(sysfs: $0, busctl: []).current.isLowPower }
      return found
    }
    #expect(try isLow(battery(status: "Discharging", capacity: "19")))
    #expect(try !isLow(battery(status: "Discharging", capacity: "20")))
    #expect(try !isLow(battery(status: "Charging", capacity: "3")))
    #expect(try !isLow(battery(status: "Discharging", capacity: "much")))
    #expect(try !isLow(battery("hid-mouse", status: "Discharging", capacity: "3", scope: "Device")))
    #expect(try isLow(["firmware/acpi/platform_profile": "low-power"]))
    #expect(try !isLow(["firmware/acpi/platform_profile": "balanced"]))
  }

  @Test("say that the network is metered where NetworkManager does, or guesses so", arguments: 0...4)
  func network(value: Int) throws {
    // The arguments that follow are those of the shell.
    let source = SystemConstraints(sysfs: URL(filePath: "/nowhere"), busctl: ["/bin/sh", "-c", "echo u \(value)"])
    #expect(source.current.isMetered == [1, 3].contains(value))
  }
}
