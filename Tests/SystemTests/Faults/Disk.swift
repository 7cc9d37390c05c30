import Foundation
import TestSupport

/// A small file system in memory. Requires root.
struct Disk: Sendable {
  let folder: URL
  private var filler: URL { folder.appending(path: "filler") }

  static func with(megabytes: Int, _ body: @Sendable (Disk) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-disk.\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await run("mount", "-t", "tmpfs", "-o", "mode=755,size=\(megabytes)m", "tmpfs", folder.path)
    let outcome: Result<Void, any Error>
    do {
      try await body(Disk(folder: folder))
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    try await run("umount", "--lazy", folder.path)
    try outcome.get()
  }

  /// Fills the file system completely.
  func fill() throws {
    let descriptor = open(filler.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let zeros = [UInt8](repeating: 0, count: 1 << 16)
    while write(descriptor, zeros, zeros.count) > 0 {}
    guard errno == ENOSPC else { throw Unexpected(description: "the disk is not full: \(errno)") }
  }

  /// Frees the space again.
  func empty() throws { try FileManager.default.removeItem(at: filler) }
}

/// Runs a system program, which must succeed.
func run(_ words: String...) async throws {
  let process = try ChildProcess(
    words, executable: "/usr/bin/env", environment: ["PATH": "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"])
  let result = await process.result()
  guard result.status == 0 else {
    throw Unexpected(description: "\(words.joined(separator: " ")): \(result.errors)")
  }
}
