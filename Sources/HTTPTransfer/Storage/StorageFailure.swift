import Foundation
import GRDB

/// The reasons of file and database errors, in words for users.
package enum StorageFailure {
  /// Returns the reason of an error, without the file name and without a full stop.
  package static func reason(_ error: any Error) -> String {
    switch error {
    case let error as DatabaseError: database(error)
    case let error as FetchError: error.message
    case let error as CocoaError: cocoa(error)
    default: systemCode(error).map(system) ?? error.localizedDescription
    }
  }

  /// Returns the system's text for an `errno` value, such as "no space left on device".
  package static func system(_ code: Int32) -> String {
    let text = String(cString: strerror(code))
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  /// Returns the `errno` value of an error, or of the one below it.
  private static func systemCode(_ error: any Error) -> Int32? {
    if let error = error as? POSIXError { return error.code.rawValue }
    let error = error as NSError
    if error.domain == NSPOSIXErrorDomain { return Int32(exactly: error.code) }
    return (error.userInfo[NSUnderlyingErrorKey] as? any Error).flatMap(systemCode)
  }

  private static func cocoa(_ error: CocoaError) -> String {
    // This is how the creation of a folder reports a file in its place.
    if error.code == .fileWriteFileExists { return system(ENOTDIR) }
    if let code = systemCode(error) { return system(code) }
    switch error.code {
    case .fileWriteOutOfSpace: return system(ENOSPC)
    case .fileWriteVolumeReadOnly: return system(EROFS)
    case .fileWriteNoPermission, .fileReadNoPermission: return system(EACCES)
    case .fileNoSuchFile, .fileReadNoSuchFile: return system(ENOENT)
    default: break
    }
    // The remaining texts are those of the framework, such as "NSCocoaErrorDomain error 512".
    switch error.code.rawValue {
    case CocoaError.fileReadUnknown.rawValue..<CocoaError.fileWriteUnknown.rawValue: return "it cannot be read"
    case CocoaError.fileWriteUnknown.rawValue..<1024: return "it cannot be written"
    default: return error.localizedDescription
    }
  }

  /// Returns texts for the primary result codes that users can act on (https://sqlite.org/rescode.html).
  private static func database(_ error: DatabaseError) -> String {
    switch error.resultCode {
    case .SQLITE_FULL: "the disk is full"
    case .SQLITE_READONLY: "it is read-only"
    case .SQLITE_CANTOPEN:
      "it cannot be opened; the disk may be full or read-only, or the file may belong to another user"
    case .SQLITE_IOERR: "the disk cannot be read or written; it may be full"
    case .SQLITE_PERM, .SQLITE_AUTH: "permission denied"
    case .SQLITE_BUSY, .SQLITE_LOCKED: "another process keeps it locked"
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: "the file is damaged"
    default: error.message ?? "SQLite reports error \(error.resultCode.rawValue)"
    }
  }
}
