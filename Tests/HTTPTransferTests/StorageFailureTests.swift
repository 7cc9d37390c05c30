import Foundation
import GRDB
import HTTPTransfer
import TestKit
import Testing

@Suite("A failure of the storage") struct StorageFailureTests {
  @Test(
    "has a reason in words for users, whatever type the error has",
    arguments: [
      (CocoaError(.fileWriteOutOfSpace), "no space left on device"),
      (CocoaError(.fileReadNoPermission), "permission denied"),
      (CocoaError(.fileReadNoSuchFile), "no such file or directory"),
      (CocoaError(.fileWriteFileExists), "not a directory"), (CocoaError(.fileWriteUnknown), "it cannot be written"),
      (CocoaError(.fileWriteInvalidFileName), "it cannot be written"),
      (CocoaError(.fileReadUnknown), "it cannot be read"), (CocoaError(.fileReadCorruptFile), "it cannot be read"),
      (
        CocoaError(.fileWriteUnknown, userInfo: [NSUnderlyingErrorKey: POSIXError(.EROFS)]), "read-only file system"
      ),
      (CocoaError(.fileWriteVolumeReadOnly), "read-only file system"),
      (CocoaError(.fileWriteNoPermission), "permission denied"),
      (CocoaError(.fileNoSuchFile), "no such file or directory"),
      (POSIXError(.ENOTDIR), "not a directory"), (FetchError(.storage, "the store is damaged"), "the store is damaged"),
    ] as [(any Error, String)])
  func reasons(error: any Error, reason: String) {
    #expect(StorageFailure.reason(error) == reason)
  }

  @Test(
    "of a database has a reason that users can act on",
    arguments: [
      (.SQLITE_FULL, "the disk is full"), (.SQLITE_READONLY, "it is read-only"),
      (.SQLITE_READONLY_DIRECTORY, "it is read-only"), (.SQLITE_PERM, "permission denied"),
      (.SQLITE_AUTH, "permission denied"), (.SQLITE_BUSY, "another process keeps it locked"),
      (.SQLITE_LOCKED, "another process keeps it locked"), (.SQLITE_CORRUPT, "the file is damaged"),
      (.SQLITE_NOTADB, "the file is damaged"), (.SQLITE_TOOBIG, "the text of SQLite"),
      (.SQLITE_IOERR_WRITE, "the disk cannot be read or written; it may be full"),
      (
        .SQLITE_CANTOPEN,
        "it cannot be opened; the disk may be full or read-only, or the file may belong to another user"
      ),
    ] as [(ResultCode, String)])
  func database(code: ResultCode, reason: String) {
    #expect(StorageFailure.reason(DatabaseError(resultCode: code, message: "the text of SQLite")) == reason)
  }

  @Test("to create a folder in the place of a file, or in a file, is named")
  func folder() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "tidings-occupied-\(UUID().uuidString)")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    for path in ["", "/folder"] {
      let error = #expect(throws: CocoaError.self) {
        try FileManager.default.createDirectory(
          atPath: file.path + path, withIntermediateDirectories: true)
      }
      #expect(error.map { StorageFailure.reason($0) } == "not a directory", "\(path)")
    }
  }
}
