public import Foundation

/// The result of one entry of a batch.
///
///     func isDone(_ result: BatchResult) -> Bool { result.status < 300 }
public struct BatchResult: Sendable, Equatable, Codable {
  /// The status that a request with this write alone would have; 424 if the entry was not made because another one was
  /// refused.
  public var status: Int
  /// The id of the item; nil for a refused creation without an id.
  public var id: UUID?
  /// The item after the write; nil for retractions and refused entries.
  public var item: EditorialItem?
  /// The reason for a refusal.
  public var problem: Problem?

  /// Creates a result.
  public init(status: Int, id: UUID?, item: EditorialItem? = nil, problem: Problem? = nil) {
    self.status = status
    self.id = id
    self.item = item
    self.problem = problem
  }
}

/// The body of the response to `POST /v1/editorial/items/batch`.
///
///     let list = try NewsJSON.decode(BatchResultList.self, from: Data(#"{"applied":0,"results":[]}"#.utf8))
///     print(list.applied)  // 0
public struct BatchResultList: Sendable, Equatable, Codable {
  /// The number of entries that were not refused.
  public var applied: Int
  /// The results in the order of the entries.
  public var results: [BatchResult]

  /// Creates the list of results.
  public init(applied: Int, results: [BatchResult]) {
    self.applied = applied
    self.results = results
  }
}
