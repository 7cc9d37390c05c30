import Foundation
import HTTPTransfer

/// A program that takes over the terminal until it ends, such as a pager. It runs without a shell.
///
/// Foundation's `Process` moves a program to a process group of its own, which may not read from the terminal.
enum ForegroundProgram {
  /// The end of a program.
  enum End: Equatable {
    case exited(Int32)
    case killed(signal: Int32)

    /// The end as the predicate of a sentence.
    var text: String {
      switch self {
      case .exited(let status): "ended with status \(status)"
      case .killed(let signal): "was ended by signal \(signal)"
      }
    }
  }

  /// Runs a program to its end.
  ///
  /// - Parameters:
  ///   - words: The name or the path of the program, and its arguments.
  ///   - input: A file for the standard input; nil for that of this process.
  /// - Throws: An error if the program cannot be started.
  static func run(_ words: [String], input: Int32? = nil) throws -> End {
    let interrupts = [SIGINT, SIGQUIT]
    // The keys of the terminal are for the program.
    let handlers = interrupts.map { signal($0, SIG_IGN) }
    defer { for (number, handler) in zip(interrupts, handlers) { signal(number, handler) } }
    var spawner = ChildSpawner(
      executable: words[0], arguments: Array(words.dropFirst()), environment: ProcessInfo.processInfo.environment)
    spawner.isInForeground = true
    let process = try spawner.start(input: input)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ECHILD) }
    }
    // The layout of the status is that of wait(2).
    return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
  }
}

/// The program that shows long texts on a terminal.
enum Pager {
  /// Shows lines with `PAGER`, or else with less.
  ///
  /// - Returns: Whether the user has seen them; false without a pager.
  static func show(_ lines: [String]) -> Bool {
    let words = (ProcessInfo.processInfo.environment["PAGER"] ?? "less").split(separator: " ").map(String.init)
    guard let program = words.first, program != "cat", let file = tmpfile() else { return false }
    defer { fclose(file) }
    let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count, fflush(file) == 0 else { return false }
    rewind(file)
    switch try? ForegroundProgram.run(words, input: fileno(file)) {
    // The shell's status for a program that it cannot find.
    case nil, .exited(126), .exited(127): return false
    default: return true
    }
  }
}

/// The program that shows pages of the web.
enum Browser {
  /// Opens an address.
  ///
  /// - Throws: A sentence about the last program that was tried.
  static func open(_ url: URL) throws {
    let address = url.absoluteString
    let chosen = TidingsFetch.environment["BROWSER"] ?? ""
    let commands = chosen.split(separator: ":").map { words(String($0), address) }.filter { !$0.isEmpty }
    var failure = ""
    for words in commands.isEmpty ? [["xdg-open", address]] : commands {
      do {
        let end = try ForegroundProgram.run(words)
        if end == .exited(0) { return }
        failure = "\(words[0]) \(end.text)"
      } catch {
        failure = "\(words[0]) cannot be started. Set BROWSER to your browser"
      }
    }
    throw Failure(description: "cannot open \(address): \(failure)")
  }

  /// Returns the words of a command, in which %s stands for the address; without it, the address is the last word.
  private static func words(_ command: String, _ address: String) -> [String] {
    let words = command.split(separator: " ").map(String.init)
    if words.isEmpty { return [] }
    let filled = words.map { $0.replacing("%s", with: address) }
    return filled == words ? words + [address] : filled
  }

  /// The error of a page that cannot be shown.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
