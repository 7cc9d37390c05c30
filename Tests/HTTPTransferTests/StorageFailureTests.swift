import Foundation
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
      (POSIXError(.ENOTDIR), "not a directory"), (FetchError(.storage, "the store is damaged"), "the store is damaged"),
    ] as [(any Error, String)])
  func reasons(error: any Error, reason: String) {
    #expect(StorageFailure.reason(error) == reason)
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
