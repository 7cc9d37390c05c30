#if os(Linux)
  public import Foundation

  /// The constraints of this machine: battery, platform profile and network interfaces from sysfs, and the network's
  /// state from NetworkManager. A value that the machine does not report means no constraint.
  ///
  ///     let constraints = SystemConstraints().current
  ///     if constraints.isOffline { print("no network") }
  ///     print(constraints.isMetered, constraints.isOnBattery)
  public struct SystemConstraints: ConstraintSource {
    /// The capacity below which a battery is low, in percent.
    static let lowCapacity = 20
    /// The timeout of the program that queries NetworkManager, in milliseconds.
    static let timeout = 3000

    private let sysfs: URL
    private let busctl: [String]

    /// Creates a source of the machine's constraints.
    ///
    /// - Parameters:
    ///   - sysfs: The mount point of sysfs.
    ///   - busctl: The program that queries NetworkManager, with its first arguments.
    public init(
      sysfs: URL = URL(filePath: "/sys", directoryHint: .isDirectory),
      busctl: [String] = ["/usr/bin/busctl", "--system", "--timeout=1"]
    ) {
      self.sysfs = sysfs
      self.busctl = busctl
    }

    /// The current constraints. The getter takes up to one second if NetworkManager does not answer, and up to three
    /// seconds if `busctl` hangs.
    public var current: FetchConstraints {
      let network = networkProperties
      let batteries = batteries
      let isLow =
        text("firmware/acpi/platform_profile") == "low-power"
        || batteries.contains { battery in
          text("\(battery)/capacity").flatMap { Int($0) }.map { $0 < Self.lowCapacity } == true
        }
      // NMConnectivityState: 1 is no network, 2 a captive portal, 0 unknown.
      let isOffline = network.connectivity.map { [1, 2].contains($0) }
      return FetchConstraints(
        isMetered: [1, 3].contains(network.metered), isLowPower: isLow, isOnBattery: !batteries.isEmpty,
        isOffline: isOffline ?? hasNoCarrier)
    }

    /// The batteries that power the machine at the moment (Documentation/ABI/testing/sysfs-class-power of Linux).
    private var batteries: [String] {
      let supplies = sysfs.appending(path: "class/power_supply")
      let names = (try? FileManager.default.contentsOfDirectory(atPath: supplies.path(percentEncoded: false))) ?? []
      return names.map { "class/power_supply/\($0)" }.filter { supply in
        // The battery of a device such as a mouse does not power the machine.
        text("\(supply)/type") == "Battery" && text("\(supply)/scope") != "Device"
          && text("\(supply)/status") == "Discharging"
      }
    }

    private func text(_ path: String) -> String? {
      try? String(contentsOf: sysfs.appending(path: path), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Whether the machine has network adapters, but no adapter, tunnel or bridge is connected
    /// (Documentation/ABI/testing/sysfs-class-net of Linux). Without adapters nothing is known: a container has none.
    private var hasNoCarrier: Bool {
      let interfaces = sysfs.appending(path: "class/net")
      let names = (try? FileManager.default.contentsOfDirectory(atPath: interfaces.path(percentEncoded: false))) ?? []
      let adapters = names.filter {
        FileManager.default.fileExists(atPath: interfaces.appending(path: "\($0)/device").path(percentEncoded: false))
      }
      let isConnected = names.contains { $0 != "lo" && ["up", "unknown"].contains(text("class/net/\($0)/operstate")) }
      return !adapters.isEmpty && !isConnected
    }

    /// `Metered` (NMMetered: 1 is yes, 3 is a guess of yes) and `Connectivity` of NetworkManager; nil if it does not
    /// answer.
    private var networkProperties: (metered: Int?, connectivity: Int?) {
      let answer = busctlOutput([
        "get-property", "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
        "org.freedesktop.NetworkManager", "Metered", "Connectivity",
      ])
      // One line for each property: the type `u` and the value.
      let values = answer.split(separator: "\n").map { line in
        line.hasPrefix("u ") ? Int(line.dropFirst(2)) : nil
      }
      return (values.first.flatMap(\.self), values.dropFirst().first.flatMap(\.self))
    }

    private func busctlOutput(_ arguments: [String]) -> String {
      guard let program = busctl.first, FileManager.default.isExecutableFile(atPath: program) else { return "" }
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(filePath: program)
      process.arguments = busctl.dropFirst() + arguments
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return "" }
      let answer = Self.contents(output.fileHandleForReading.fileDescriptor)
      // A program that hangs must not delay the fetch.
      if answer == nil { kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
      return answer ?? ""
    }

    /// Reads to the end of the file.
    ///
    /// - Returns: The text; nil if the end does not come within ``timeout``, or not within the first 64 KiB.
    private static func contents(_ descriptor: Int32) -> String? {
      let end = ContinuousClock.now + .milliseconds(timeout)
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1024)
      while bytes.count < 1 << 16 {
        let left = (end - .now) / .milliseconds(1)
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard left > 0, poll(&entry, 1, Int32(left.rounded(.up))) > 0 else {
          if left > 0, errno == EINTR { continue }
          return nil
        }
        let count = read(descriptor, &buffer, buffer.count)
        if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
      }
      return nil
    }
  }
#endif
