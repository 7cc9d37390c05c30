import ArgumentParser
import Foundation

/// Returns the resident memory of a process in bytes.
func residentMemory(of process: Int) throws -> Int {
  let text = try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)
  guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Rss:") }),
    let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
  else { throw ValidationError("the memory of the process \(process) cannot be read") }
  return kilobytes * 1024
}
