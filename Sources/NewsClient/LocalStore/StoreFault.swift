import Foundation
import GRDB
import HTTPTransfer

/// The errors of a store as sentences.
enum StoreFault {
  /// Returns the error of an operation that needs the file.
  static func error(_ error: any Error, _ file: URL) -> FetchError {
    if let error = error as? FetchError { return error }
    let path = file.path(percentEncoded: false)
    return FetchError(.storage, "cannot use the store \(path): \(StorageFailure.reason(error))")
  }

  /// Whether a store that fails with this error may still be readable.
  static func isUnwritable(_ error: any Error) -> Bool {
    guard let code = (error as? DatabaseError)?.resultCode else { return false }
    return [.SQLITE_FULL, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_CANTOPEN, .SQLITE_IOERR].contains(code)
  }
}
