import Foundation

/// The resources that the process uses (Linux, proc(5)), under the metric names that all Prometheus clients use.
package struct ProcessUsage {
  private let processorSeconds: Double
  private let residentBytes: Double
  private let openFiles: Double
  /// The soft limit on open files; infinite if there is no limit.
  private let maximumFiles: Double

  /// Reads the current usage.
  ///
  /// - Returns: nil if `/proc` is not available.
  package init?() {
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"),
      let end = stat.lastIndex(of: ")")
    else { return nil }
    // The process name in parentheses may contain any character. The third field follows it.
    let fields = stat[end...].split(separator: " ").dropFirst().map { Double($0) ?? 0 }
    guard fields.count > 21 else { return nil }
    processorSeconds = (fields[11] + fields[12]) / Double(sysconf(Int32(_SC_CLK_TCK)))
    residentBytes = fields[21] * Double(sysconf(Int32(_SC_PAGESIZE)))
    openFiles = Double(files.count)
    maximumFiles = FreeDescriptors.limits.current.map(Double.init) ?? .infinity
  }

  package func write(to text: inout PrometheusText) {
    text.add("process_cpu_seconds_total", .counter, help: "Processor time of the process.", processorSeconds)
    text.add("process_resident_memory_bytes", .gauge, help: "Resident memory of the process.", residentBytes)
    text.add("process_open_fds", .gauge, help: "Open file descriptors of the process.", openFiles)
    text.add("process_max_fds", .gauge, help: "Limit on open file descriptors of the process.", maximumFiles)
  }
}
