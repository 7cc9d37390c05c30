import Crypto
import Foundation
import MediaFiles
import Synchronization
import TestKit
import Testing

/// Calls that run at the same time.
extension MediaDirectoryTests {
  /// Runs the body while calls wait for the disk.
  private static func blocking(
    _ count: Int, _ directory: MediaDirectory, _ folder: URL, _ body: () async throws -> Void
  ) async throws {
    // Without a writer, the pipe cannot be opened yet.
    let digest = MediaDigest(SHA256.hash(data: Data()))
    let pipe = folder.appending(path: digest.hexadecimal).path
    #expect(mkfifo(pipe, 0o600) == 0)
    let calls = Mutex(0)
    let readers = (0..<count).map { _ in
      Task { @Sendable in
        calls.withLock { $0 += 1 }
        _ = try await directory.open(digest)
      }
    }
    let outcome: Result<Void, any Error>
    do {
      try await eventually("all have been called") { calls.withLock { $0 == count } }
      try await body()
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    let writer = Foundation.open(pipe, O_RDWR | O_CLOEXEC)
    defer { close(writer) }
    for task in readers { try await task.value }
    try outcome.get()
  }

  @Test("An upload goes on while other calls wait for the disk")
  func ownThread() async throws {
    try await Self.with { directory, folder in
      let upload = try await directory.begin()
      try await Self.blocking(32, directory, folder) {
        let isWritten = Mutex(false)
        let writing = Task { @Sendable in
          try await upload.write([1])
          isWritten.withLock { $0 = true }
        }
        try await eventually("it goes on") { isWritten.withLock { $0 } }
        try await writing.value
      }
    }
  }

  @Test("Calls that wait for the disk leave threads for others")
  func otherThreads() async throws {
    try await Self.with { directory, folder in
      try await Self.blocking(4, directory, folder) {
        let count = Mutex(0)
        for _ in 0..<8 {
          Task { @Sendable in
            _ = try? await directory.exists()
            count.withLock { $0 += 1 }
          }
        }
        try await eventually("one of them ends") { count.withLock { $0 > 0 } }
      }
    }
  }

  @Test("An upload can begin while sweeps run at the same time")
  func beginsBesideSweeps() async throws {
    try await Self.with { directory, _ in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask { while !Task.isCancelled { try await directory.sweep() } }
        }
        for number in 0..<rounds(2000) {
          let upload = try await directory.begin()
          guard number % 4 == 0 else { continue }
          // The file is still there.
          _ = try await upload.finish(.pdf)
          try await upload.publish()
        }
        group.cancelAll()
      }
    }
  }

  @Test("A sweep does not remove a label that is being written")
  func labelBesideSweeps() async throws {
    try await Self.with { directory, _ in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask { while !Task.isCancelled { try await directory.sweep() } }
        }
        for _ in 0..<20 {
          do {
            try await directory.setLabel(Data("a".utf8))
          } catch MediaError.failed("flock", code: EWOULDBLOCK) {
            // The sweep was faster than the lock.
          }
        }
        group.cancelAll()
      }
    }
  }
}
