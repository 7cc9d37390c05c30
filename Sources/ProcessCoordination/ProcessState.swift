import Foundation

/// The state of a process, as the kernel of Linux reports it (proc(5)).
package struct ProcessState: Sendable, Equatable {
  /// The letter of the state, such as `R` for running, `T` for stopped and `Z` for ended.
  package let letter: Character
  /// The start of the process in clock ticks since the boot. Together with the number it identifies a process.
  package let start: String

  /// Reads the state of a process; nil if there is no such process, and on systems other than Linux.
  package init?(process: Int32) {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    // The name of the program precedes the last parenthesis, and may contain anything.
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 19, let letter = fields[0].first else { return nil }
    (self.letter, start) = (letter, String(fields[19]))
  }

  /// Whether the process is stopped, such as by SIGSTOP or a debugger.
  package var isStopped: Bool { letter == "T" || letter == "t" }

  /// Whether the process has ended, although its parent has not asked for its status yet.
  package var hasEnded: Bool { letter == "Z" || letter == "X" }
}
