import BackgroundFetch
import Foundation
import Testing

@Suite("System constraints") struct ConstraintTests {
  /// Runs the body with a generated sysfs that contains the given files.
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

  @Test("nothing is constrained if the machine reports nothing")
  func nothing() throws {
    try withSysfs([:]) { sysfs in
      #expect(SystemConstraints(sysfs: sysfs, busctl: ["/nowhere"]).current == .none)
      #expect(SystemConstraints(sysfs: sysfs, busctl: ["/bin/false"]).current == .none)
      #expect(SystemConstraints(sysfs: sysfs, busctl: []).current == .none)
    }
  }

  @Test("low power means a low battery that is discharging, or the low-power profile")
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
    for (status, isOnBattery) in [("Discharging", true), ("Charging", false)] {
      try withSysfs(battery(status: status, capacity: "80")) { sysfs in
        #expect(SystemConstraints(sysfs: sysfs, busctl: []).current.isOnBattery == isOnBattery)
      }
    }
    #expect(try isLow(["firmware/acpi/platform_profile": "low-power"]))
    #expect(try !isLow(["firmware/acpi/platform_profile": "balanced"]))
  }

  @Test("no connectivity and a captive portal in NetworkManager mean offline", arguments: 0...4)
  func connectivity(value: Int) throws {
    let source = SystemConstraints(
      sysfs: URL(filePath: "/nowhere"), busctl: ["/bin/sh", "-c", "echo u 4; echo u \(value)"])
    #expect(source.current.isOffline == [1, 2].contains(value))
  }

  @Test("a machine without a connected adapter is offline, unless NetworkManager reports connectivity")
  func carrier() throws {
    func isOffline(_ states: [String: String], busctl: [String] = []) throws -> Bool {
      var found = false
      var files = ["class/net/lo/operstate": "unknown"]
      for (name, state) in states {
        files["class/net/\(name)/operstate"] = state
        if name.hasPrefix("en") || name.hasPrefix("wl") { files["class/net/\(name)/device/vendor"] = "0x8086" }
      }
      try withSysfs(files) { found = SystemConstraints(sysfs: $0, busctl: busctl).current.isOffline }
      return found
    }
    #expect(try isOffline(["enp0s1": "down", "wlp2s0": "dormant"]))
    #expect(try isOffline(["wlp2s0": "down", "docker0": "down"]))
    #expect(try !isOffline(["enp0s1": "down", "wlp2s0": "up"]))
    #expect(try !isOffline(["enp0s1": "unknown"]))
    #expect(try !isOffline(["enp0s1": "down", "tun0": "unknown"]))
    #expect(try !isOffline([:]), "a container without an adapter")
    #expect(try !isOffline(["docker0": "down"]))
    #expect(try !isOffline(["enp0s1": "down"], busctl: ["/bin/sh", "-c", "echo u 4; echo u 4"]))
  }

  @Test("a program that hangs is ended after its timeout")
  func hanging() throws {
    let start = ContinuousClock.now
    let source = SystemConstraints(sysfs: URL(filePath: "/nowhere"), busctl: ["/bin/sh", "-c", "exec sleep 600"])
    #expect(source.current == .none)
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  @Test("the values yes and guess-yes of NetworkManager mean a metered network", arguments: 0...4)
  func network(value: Int) throws {
    // The arguments that follow belong to the shell.
    let source = SystemConstraints(sysfs: URL(filePath: "/nowhere"), busctl: ["/bin/sh", "-c", "echo u \(value)"])
    #expect(source.current.isMetered == [1, 3].contains(value))
  }
}
