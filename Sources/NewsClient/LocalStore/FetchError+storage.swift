import Foundation
import GRDB
import HTTPTransfer

extension FetchError {
  /// Creates the error of a failed access to the store.
  init(_ error: any Error, of file: URL) {
    if let error = error as? FetchError {
      self = error
      return
    }
    let path = file.path(percentEncoded: false)
    self.init(.storage, "cannot use the store \(path): \(StorageFailure.reason(error))")
  }
}

extension DatabaseError {
  /// Whether the file cannot be written but may still be readable.
  var preventsOnlyWrites: Bool {
    [.SQLITE_FULL, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_CANTOPEN, .SQLITE_IOERR].contains(resultCode)
  }
}
