import ArgumentParser
import Foundation

/// Runs a program several times, one after the other.
struct Processes: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Prints the medians of wall-clock time and of processor time in ms that a program takes, both with its end.")

  @Option(help: "The number of runs.") var count = 20
  @Argument(parsing: .captureForPassthrough, help: "The program and its arguments.") var words: [String]

  func run() throws {
    var walls: [Double] = []
    var processors: [Double] = []
    for _ in 0..<count {
      let process = Process()
      process.executableURL = URL(filePath: words[0])
      process.arguments = Array(words.dropFirst())
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      let before = Self.processorTime
      let start = ContinuousClock.now
      try process.run()
      process.waitUntilExit()
      walls.append((.now - start) / .milliseconds(1))
      processors.append(Self.processorTime - before)
    }
    print([walls, processors].map { String(format: "%.1f", $0.sorted()[count / 2]) }.joined(separator: " "))
  }

  /// The processor time of all ended child processes, in milliseconds.
  private static var processorTime: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1000 + Double(time.tv_usec) / 1000 }
    return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
  }
}
