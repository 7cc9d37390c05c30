/// Waits until a condition is true, for at most 60 seconds. Only a test that fails needs that long.
///
/// - Parameter what: The description of the condition for the error message.
/// - Throws: An error that names the condition, or an error of the condition.
public func eventually(
  _ what: String, file: String = #fileID, line: Int = #line, _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(60)
  while ContinuousClock.now < end {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(10))
  }
  throw ConditionTimeout(description: "not true within 60 s: \(what) (\(file):\(line))")
}

private struct ConditionTimeout: Error, CustomStringConvertible {
  let description: String
}
