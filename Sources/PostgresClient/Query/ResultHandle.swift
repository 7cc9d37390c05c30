import CLibPQ
import Synchronization

/// Owns one `PGresult`.
///
/// Sendable because libpq never changes a result after `PQgetResult` has returned it, and it is freed when nobody
/// refers to it any more.
final class ResultHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  let columnCount: Int32
  /// Where the search for a column starts: rows are mostly decoded in the order of their columns.
  let expectedColumn = Atomic<Int32>(0)

  init(_ pointer: OpaquePointer) {
    self.pointer = pointer
    columnCount = PQnfields(pointer)
  }

  deinit {
    PQclear(pointer)
  }

  /// The first column of that name at or after the expected one, going round; nil if there is none.
  func column(named name: String) -> Int32? {
    name.withCString { name in
      var index = expectedColumn.load(ordering: .relaxed)
      for _ in 0..<columnCount {
        if index >= columnCount { index = 0 }
        if let candidate = PQfname(pointer, index), equal(candidate, name) {
          expectedColumn.store(index + 1, ordering: .relaxed)
          return index
        }
        index += 1
      }
      return nil
    }
  }

  private func equal(_ left: UnsafePointer<CChar>, _ right: UnsafePointer<CChar>) -> Bool {
    var index = 0
    while left[index] == right[index] {
      if left[index] == 0 { return true }
      index += 1
    }
    return false
  }
}
