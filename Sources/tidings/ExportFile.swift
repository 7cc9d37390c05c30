import Foundation
import SystemPackage

/// The destination of an export. A file has the suffix `.partial` until it is complete and on disk.
struct ExportFile {
  private let descriptor: FileDescriptor
  /// The path of the complete file; nil for standard output.
  private let path: String?

  private var partial: String? { path.map { $0 + ".partial" } }

  /// Opens the destination.
  ///
  /// - Parameter path: A path, or `-` for standard output.
  /// - Throws: `CommandError` if the file cannot be written, or another export is writing it.
  init(_ path: String) throws {
    guard path != "-" else {
      descriptor = .standardOutput
      self.path = nil
      return
    }
    // Renaming a file over a device or a link would replace it.
    let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    guard type == nil || type == .typeRegular else {
      throw CommandError(
        "cannot export to \(path): it is not a regular file. Name another, or - for standard output.")
    }
    self.path = path
    let partial = path + ".partial"
    do {
      descriptor = try .open(
        FilePath(partial), .writeOnly, options: [.create, .closeOnExec],
        permissions: [.ownerReadWrite, .groupRead, .otherRead])
    } catch {
      throw CommandError("cannot write \(partial): \(SystemReason(error))")
    }
    // The lock ends with the process, so that the file of a killed process blocks no later export.
    guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0, Self.isFile(descriptor, at: partial) else {
      throw CommandError("another export is writing \(partial): wait until it ends, or name another file")
    }
    do {
      try descriptor.resize(to: 0)
    } catch {
      throw CommandError("cannot write \(partial): \(SystemReason(error))")
    }
  }

  /// Writes bytes.
  ///
  /// - Throws: `CommandError`; `FailureCode.outputClosed` if the reader of standard output has gone.
  func write(_ data: Data) throws {
    do {
      try descriptor.writeAll(data)
    } catch Errno.brokenPipe where path == nil {
      throw FailureCode.outputClosed
    } catch {
      throw CommandError("cannot write \(partial ?? "to standard output"): \(SystemReason(error))")
    }
  }

  /// Renames the file once its bytes are on disk, and waits until the new name is on disk too.
  ///
  /// - Throws: `CommandError`.
  func finish() throws {
    guard let path, let partial else { return }
    do {
      let parent = URL(filePath: path).deletingLastPathComponent().path
      let folder = try FileDescriptor.open(FilePath(parent), .readOnly)
      defer { try? folder.close() }
      guard fsync(descriptor.rawValue) == 0, rename(partial, path) == 0, fsync(folder.rawValue) == 0 else {
        throw Errno(rawValue: errno)
      }
    } catch {
      throw CommandError("cannot write \(path): \(SystemReason(error))")
    }
  }

  func discard() {
    if let partial { unlink(partial) }
  }

  /// Whether the file still has its name. An export that has just ended may have renamed it.
  private static func isFile(_ descriptor: FileDescriptor, at path: String) -> Bool {
    var (opened, named) = (stat(), stat())
    return fstat(descriptor.rawValue, &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino
  }
}
