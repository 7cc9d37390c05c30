import Foundation
import News
import NewsClient

/// The standard streams of the command: results go to standard output, errors to standard error.
enum Output {
  /// A failed write to standard output.
  struct Failure: Error {
    /// The number of the error (errno(3)).
    var code: Int32

    /// Whether the reader has closed the pipe, such as `head` after its lines.
    var isClosedPipe: Bool { code == EPIPE }

    /// The failure as a sentence.
    var message: String { "cannot write the result: \(String(cString: strerror(code)))" }
  }

  /// Prepares the streams. It must be called before any file is opened.
  ///
  /// A write to a closed pipe then returns an error instead of raising a signal. The descriptors 0 to 2 are occupied,
  /// so that a file of the store never takes the place of a closed stream.
  static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // open(2) returns the lowest free descriptor. A write to it fails like one to a closed stream.
      guard open("/dev/null", O_RDONLY) >= 0 else { return }
    }
  }

  /// Writes a line to standard output.
  ///
  /// - Throws: ``Failure``
  static func print(_ line: String = "") throws { try write(line + "\n", to: STDOUT_FILENO) }

  /// Writes a line to standard error, after the name of the command. A failure is ignored, because nothing is left to
  /// do.
  static func log(_ line: String) { try? write("tidings-fetch: \(line.terminalSafe)\n", to: STDERR_FILENO) }

  /// Writes the reason of a failed fetch to standard error, unless the user sees it on the same terminal as the result.
  ///
  /// - Parameter json: Whether the result is printed as JSON.
  static func logFailure(_ report: FetchReport, json: Bool) {
    guard let error = report.error, json || isatty(STDOUT_FILENO) == 0 || isatty(STDERR_FILENO) == 0 else { return }
    log(error)
  }

  /// Writes text to standard error as it is.
  static func draw(_ text: String) { try? write(text, to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) throws {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        bytes = bytes.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // Another process that shares the stream has made it non-blocking.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&waiting, 1, -1)
      case let code: throw Failure(code: code)
      }
    }
  }
}

/// The function `write(2)`, which `Output.write` would hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}

/// Returns a number with its noun: `1 request`, `2 requests`.
func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

/// Formats a whole number for people, with commas: `85,200`.
func grouped(_ number: Int) -> String {
  var digits = String(number.magnitude)
  var index = digits.endIndex
  while let next = digits.index(index, offsetBy: -3, limitedBy: digits.startIndex), next > digits.startIndex {
    digits.insert(",", at: next)
    index = next
  }
  return (number < 0 ? "-" : "") + digits
}

/// Formats a time in seconds for people, rounded: `34 s`, `5 min`, `2 h 10 min`.
func roundedTime(_ seconds: Double) -> String {
  let whole = Int(min(max(seconds, 0), 31_536_000).rounded(.up))
  if whole < 60 { return "\(whole) s" }
  if whole < 3600 { return "\(whole / 60) min" }
  let minutes = whole % 3600 / 60
  return minutes == 0 ? "\(whole / 3600) h" : "\(whole / 3600) h \(minutes) min"
}
