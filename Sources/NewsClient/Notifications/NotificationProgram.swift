#if os(Linux)
  import BackgroundFetch
  import Foundation
  import News

  /// The user's program for new items; see ``NotificationOptions/program``.
  struct NotificationProgram: Sendable {
    let program: URL
    let store: URL
    let clock: any FetchClock

    /// The time limit of the program.
    static let limit = Duration.seconds(10)

    /// Runs the program.
    ///
    /// - Parameter items: The items, newest first.
    /// - Returns: A sentence about the end of the program, and its exit status; nil if it had none.
    /// - Throws: `ChildProgram.Failure` if it cannot be started.
    func run(_ items: [NewsItem]) async throws -> (sentence: String, status: Int32?) {
      let path = program.path(percentEncoded: false)
      let child = ChildProgram(
        executable: path,
        environment: ProcessInfo.processInfo.environment.merging([
          "TIDINGS_NEW": "\(items.count)", "TIDINGS_BREAKING": "\(items.count(where: \.breaking))",
          "TIDINGS_STORE": store.absoluteURL.path(percentEncoded: false),
        ]) { $1 },
        input: try NewsJSON.encode(ItemList(items: items)) + Data("\n".utf8))
      let outcome = try await child.run(within: Self.limit, clock: clock)
      let errors = outcome.errors.onOneLine(200).trimmingCharacters(in: .whitespaces)
      let reason = errors.isEmpty ? "" : ": \(errors)"
      switch outcome.end {
      case .exited(let status): return ("\(path) has ended with status \(status)\(reason)", status)
      case .killed(let signal): return ("\(path) was ended by signal \(signal)\(reason)", nil)
      case .exceededTimeLimit:
        return ("\(path) did not end within \(Int(Self.limit / .seconds(1))) s, and was ended\(reason)", nil)
      }
    }
  }
#endif
