import Foundation

/// The number of slices into which `slice(of:)` divides cases.
package let sliceCount = 4

/// Returns the cases of an exhaustive loop that this run tests, in their order: every fourth case, or all.
///
/// `scripts/test` sets `TIDINGS_TEST_SLICE` to the hash of the commit, which chooses the slice. So a failure can be
/// repeated, and a few commits test all cases. Without the variable, all cases are tested; `scripts/test` leaves it out
/// if `TIDINGS_TEST_WHOLE` is set.
///
///     for position in slice(of: 0..<1000) {
///       print("cut the connection after \(position) bytes")
///     }
///
/// - Parameter cases: The cases, in an order that is the same in every run.
/// - Returns: At least one case, if there is any.
public func slice<Cases: Sequence>(of cases: Cases) -> [Cases.Element] {
  slice(of: cases, commit: sliceCommit)
}

/// Returns the number of rounds of a loop with random cases, or the size of a load, in this run: a quarter, or all.
///
/// - Parameter count: The number of rounds in a run that tests all cases.
public func rounds(_ count: Int) -> Int {
  sliceCommit == nil ? count : count / sliceCount
}

private let sliceCommit = ProcessInfo.processInfo.environment["TIDINGS_TEST_SLICE"]

/// Returns the slice of a commit.
///
/// - Parameter commit: A hash in hexadecimal digits. All cases are returned if it is nil or something else.
package func slice<Cases: Sequence>(of cases: Cases, commit: String?) -> [Cases.Element] {
  let all = Array(cases)
  guard let number = commit.flatMap({ Int($0.prefix(8), radix: 16) }) else { return all }
  let first = number % max(1, min(sliceCount, all.count))
  return stride(from: first, to: all.count, by: sliceCount).map { all[$0] }
}
