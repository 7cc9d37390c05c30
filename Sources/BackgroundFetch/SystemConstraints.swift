#if os(Linux)
  public import Foundation

  /// What the machine says: its battery and profile in sysfs, and NetworkManager about the network. What it does not say
  /// is taken for no constraint.
  public struct SystemConstraints: ConstraintSource {
    /// A battery with less than so many percent is low.
    static let lowCapacity = 20

    private let sysfs: URL
    private let busctl: [String]

    /// The machine's.
    ///
    /// - Parameters:
    ///   - sysfs: Where sysfs is mounted.
    ///   - busctl: The program that asks NetworkManager, with its first arguments.
    public init(
      sysfs: URL = URL(filePath: "/sys", directoryHint: .isDirectory),
      busctl: [String] = ["/usr/bin/busctl", "--system", "--timeout=1"]
    ) {
      self.sysfs = sysfs
      self.busctl = busctl
    }

    /// What the machine says now; it takes up to a second where NetworkManager does not answer.
    public var current: FetchConstraints {
      let batteries = batteries
      let isLow =
        text("firmware/acpi/platform_profile") == "low-power"
        || batteries.contains { battery in
          text("\(battery)/capacity").flatMap { Int($0) }.map { $0 < Self.lowCapacity } == true
        }
      return FetchConstraints(isMetered: isMetered, isLowPower: isLow, isOnBattery: !batteries.isEmpty)
    }

    /// The batteries that the machine runs on at the moment (Documentation/ABI/testing/sysfs-class-power of Linux).
    private var batteries: [String] {
      let supplies = sysfs.appending(path: "class/power_supply")
      let names = (try? FileManager.default.contentsOfDirectory(atPath: supplies.path(percentEncoded: false))) ?? []
      return names.map { "class/power_supply/\($0)" }.filter { supply in
        // One of a mouse is none of the machine.
        text("\(supply)/type") == "Battery" && text("\(supply)/scope") != "Device"
          && text("\(supply)/status") == "Discharging"
      }
    }

    private func text(_ path: String) -> String? {
      try? String(contentsOf: sysfs.appending(path: path), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// `Metered` of NetworkManager (NMMetered): 1 is yes, and 3 a guess that it is.
    private var isMetered: Bool {
      guard let program = busctl.first, FileManager.default.isExecutableFile(atPath: program) else { return false }
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(filePath: program)
      process.arguments =
        busctl.dropFirst() + [
          "get-property", "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
          "org.freedesktop.NetworkManager", "Metered",
        ]
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return false }
      let answer = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return ["u 1", "u 3"].contains(
        String(decoding: answer, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }
  }
#endif
