import Foundation
import SystemPackage

/// Where an export goes. A file is called `.partial` until it is whole and on disk.
struct ExportFile {
  private let descriptor: FileDescriptor
  /// nil for standard output.
  private let path: String?

  private var partial: String? { path.map { $0 + ".partial" } }

  /// - Parameter path: `-` for standard output.
  /// - Throws: `Errno` where it cannot be written to, `ExportError` where another export is doing so.
  init(_ path: String) throws {
    guard path != "-" else {
      descriptor = .standardOutput
      self.path = nil
      return
    }
    // To rename over a device or a link would replace it.
    let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    guard type == nil || type == .typeRegular else {
      throw ExportError(
        description: "cannot export to \(path): it is not a regular file. Name another, or - for standard output.")
    }
    self.path = path
    let partial = path + ".partial"
    do {
      descriptor = try .open(
        FilePath(partial), .writeOnly, options: [.create, .closeOnExec],
        permissions: [.ownerReadWrite, .groupRead, .otherRead])
    } catch {
      throw ExportError(description: "cannot write \(partial): \(SystemReason(error))")
    }
    // The lock goes with the process, so that what one left that was killed is in nobody's way.
    guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0, Self.isFile(descriptor, at: partial) else {
      throw ExportError(description: "another export is writing \(partial): wait for its end, or name another file")
    }
    do {
      try descriptor.resize(to: 0)
    } catch {
      throw ExportError(description: "cannot write \(partial): \(SystemReason(error))")
    }
  }

  /// - Throws: `ExportError`; for standard output without a reader, the exit code.
  func write(_ data: Data) throws {
    do {
      try descriptor.writeAll(data)
    } catch Errno.brokenPipe where path == nil {
      throw FailureCode.outputClosed
    } catch {
      throw ExportError(description: "cannot write \(partial ?? "to standard output"): \(SystemReason(error))")
    }
  }

  /// Gives the file its name once its bytes are on disk, and sees to it that the name is.
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
      throw ExportError(description: "cannot write \(path): \(SystemReason(error))")
    }
  }

  func discard() {
    if let partial { unlink(partial) }
  }

  /// Whether the file has the name still: an export that has just ended may have given it another one.
  private static func isFile(_ descriptor: FileDescriptor, at path: String) -> Bool {
    var (opened, named) = (stat(), stat())
    return fstat(descriptor.rawValue, &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino
  }
}

/// Why an export cannot be written.
struct ExportError: Error, CustomStringConvertible {
  let description: String
}
