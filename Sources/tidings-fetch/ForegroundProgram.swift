import Foundation
import HTTPTransfer

/// A program that takes over the terminal until it ends, such as a pager. It runs without a shell.
///
/// Foundation's `Process` moves a program to a process group of its own, which may not read from the terminal.
enum ForegroundProgram {
  /// Runs a program to its end.
  ///
  /// - Parameters:
  ///   - words: The name or the path of the program, and its arguments.
  ///   - input: A file for the standard input; nil for that of this process.
  /// - Throws: An error if the program cannot be started.
  static func run(_ words: [String], input: Int32? = nil) throws -> ChildSpawner.End {
    let interrupts = [SIGINT, SIGQUIT]
    // The keys of the terminal are for the program.
    let handlers = interrupts.map { signal($0, SIG_IGN) }
    defer { for (number, handler) in zip(interrupts, handlers) { signal(number, handler) } }
    var spawner = ChildSpawner(
      executable: words[0], arguments: Array(words.dropFirst()), environment: ProcessInfo.processInfo.environment)
    spawner.isInForeground = true
    return ChildSpawner.end(of: try spawner.start(input: input))
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
        failure =
          switch end {
          case .exited(let status): "\(words[0]) ended with status \(status)"
          case .killed(let signal): "\(words[0]) was ended by signal \(signal)"
          }
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
