/// Waits until something is true, with a limit that only a fault exceeds.
///
/// - Parameter what: What is waited for, for the message.
package func eventually(
  _ what: String, file: String = #fileID, line: Int = #line, _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(60)
  while ContinuousClock.now < end {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(10))
  }
  throw NeverTrue(description: "never came true: \(what) (\(file):\(line))")
}

private struct NeverTrue: Error, CustomStringConvertible {
  let description: String
}
