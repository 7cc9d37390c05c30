import Foundation
import TestSupport
import Testing

/// The promises for each kind of fault, compared with the observed behaviour.
///
/// The quick tests run with all tests. The others take minutes, much memory, or root; `make faults` runs them: it sets
/// `TIDINGS_FAULTS` and makes a table of their output.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FaultTests {
  /// Whether the long tests are requested.
  static let runsLongTests = ProcessInfo.processInfo.environment["TIDINGS_FAULTS"] != nil

  /// Whether the tests can create networks and file systems of their own.
  static let canChangeSystem = runsLongTests && getuid() == 0

  /// Prints a row of the table.
  static func report(_ fault: String, promised: String, seen: String) {
    print("| \(fault) | \(promised) | \(seen) |")
  }

  /// Checks the promises that hold for all clients of a server, whatever breaks.
  ///
  /// - Parameter refusals: The statuses that writers may have received instead of 201; 0 is a broken connection.
  static func check(
    _ seen: ServerUsers.Record, refusals: Set<Int> = [503], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(seen.failedReads.isEmpty, "\(seen.failedReads.prefix(5))", sourceLocation: sourceLocation)
    #expect(seen.conflicts.isEmpty, "\(seen.conflicts)", sourceLocation: sourceLocation)
    #expect(Set(seen.refusals.keys).isSubset(of: refusals), "\(seen.refusals)", sourceLocation: sourceLocation)
    if refusals == [503] { #expect(seen.refusalsWithoutRetryAfter == 0, sourceLocation: sourceLocation) }
  }

  /// Returns a summary for the table.
  static func summary(_ seen: ServerUsers.Record) -> String {
    let refusals = seen.refusals.isEmpty ? "none" : "\(seen.refusals.values.reduce(0, +))"
    return """
      \(seen.reads) reads, \(seen.failedReads.count) failed; \(seen.acknowledged.count) writes, none lost, \
      \(refusals) refused
      """
  }

  static func seconds(_ duration: Duration) -> String { String(format: "%.1f s", duration / .seconds(1)) }

  static func milliseconds(_ duration: Duration) -> String { String(format: "%.1f ms", duration / .milliseconds(1)) }
}
