import Foundation
import TestSupport
import Testing

/// What was promised for the day on which something breaks, and what is seen then.
///
/// The quick ones are run with all tests. The rest take minutes, much memory, or root, and are run by `make faults`, which
/// sets `TIDINGS_FAULTS` and makes a table of what they print.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FaultTests {
  /// Whether the long ones are wanted.
  static let isAsked = ProcessInfo.processInfo.environment["TIDINGS_FAULTS"] != nil

  /// Whether networks and disks can be made for one test.
  static let hasRoot = isAsked && getuid() == 0

  /// A row of the table.
  static func report(_ fault: String, promised: String, seen: String) {
    print("| \(fault) | \(promised) | \(seen) |")
  }

  /// What must hold of all who use a server, whatever breaks.
  ///
  /// - Parameter refusals: The statuses that writers may have seen in place of 201; 0 is a connection that broke.
  static func check(
    _ seen: ServerUsers.Record, refusals: Set<Int> = [503], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(seen.failedReads.isEmpty, "\(seen.failedReads.prefix(5))", sourceLocation: sourceLocation)
    #expect(seen.conflicts.isEmpty, "\(seen.conflicts)", sourceLocation: sourceLocation)
    #expect(Set(seen.refusals.keys).isSubset(of: refusals), "\(seen.refusals)", sourceLocation: sourceLocation)
    if refusals == [503] { #expect(seen.silentRefusals == 0, sourceLocation: sourceLocation) }
  }

  /// For the table.
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
