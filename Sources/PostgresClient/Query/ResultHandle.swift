import CLibPQ
import Synchronization

/// Owns one `PGresult`.
///
/// It is sendable because libpq never changes a result after `PQgetResult` has returned it, and because it is freed
/// only after the last reference is released.
final class ResultHandle: @unchecked Sendable {
  let pointer: OpaquePointer
  let columnCount: Int32
  /// The index at which the search for a column starts: rows are mostly decoded in the order of their columns.
  let expectedColumn = Atomic<Int32>(0)

  init(_ pointer: OpaquePointer) {
    self.pointer = pointer
    columnCount = PQnfields(pointer)
  }

  deinit {
    PQclear(pointer)
  }

  /// Returns the first column with this name at or after the expected one, wrapping around; nil if there is none.
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
