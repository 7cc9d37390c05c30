import Foundation
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A source of bytes for an import.
struct ImportFile {
  /// The name in messages.
  let name: String
  private let path: String?

  /// An open file.
  struct Contents {
    fileprivate let descriptor: FileDescriptor

    /// - Returns: nil at the end.
    func read(upToCount count: Int) throws(SystemReason) -> Data? {
      var data = Data(count: count)
      do {
        let length = try data.withUnsafeMutableBytes { try descriptor.read(into: $0) }
        return length == 0 ? nil : data.prefix(length)
      } catch {
        throw SystemReason(error)
      }
    }

    func close() { try? descriptor.close() }
  }

  struct Listing {
    var files: [ImportFile]
    var isDirectory = false
    /// The total length; nil if it is unknown in advance.
    var totalBytes: Int?
  }

  func open() throws(SystemReason) -> Contents {
    guard let path else { return Contents(descriptor: .standardInput) }
    do {
      return Contents(descriptor: try .open(FilePath(path), .readOnly, options: .closeOnExec))
    } catch {
      throw SystemReason(error)
    }
  }

  /// Returns the files at a path. The files in a folder are ordered by name, without hidden ones.
  ///
  /// - Throws: `CommandError`.
  static func all(at path: String) throws(CommandError) -> Listing {
    if path == "-" { return Listing(files: [ImportFile(name: "standard input", path: nil)]) }
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT { throw CommandError("there is no file \(path)") }
      throw CommandError("cannot read \(path): \(SystemReason(code: errno))")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      let isRegular = status.st_mode & S_IFMT == S_IFREG
      return Listing(files: [ImportFile(name: path, path: path)], totalBytes: isRegular ? Int(status.st_size) : nil)
    }
    var listing = Listing(files: [], isDirectory: true, totalBytes: 0)
    do {
      try listing.add(folder: path)
    } catch {
      throw CommandError("cannot read \(path): \(error)")
    }
    listing.files.sort { $0.name < $1.name }
    return listing
  }
}

extension ImportFile.Listing {
  /// Adds the files below a folder. Links to files are followed, links to folders are not. An entry that cannot be
  /// inspected becomes an unreadable file.
  fileprivate mutating func add(folder: String) throws(SystemReason) {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      throw SystemReason(error)
    }
    for name in names where !name.hasPrefix(".") {
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      let file = ImportFile(name: path, path: path)
      var (entry, target) = (stat(), stat())
      guard lstat(path, &entry) == 0, stat(path, &target) == 0 else {
        files.append(file)
        continue
      }
      switch (entry.st_mode & S_IFMT, target.st_mode & S_IFMT) {
      case (S_IFDIR, _): do { try add(folder: path) } catch { files.append(file) }
      case (_, S_IFREG):
        files.append(file)
        totalBytes = (totalBytes ?? 0) + Int(target.st_size)
      default: break
      }
    }
  }
}
