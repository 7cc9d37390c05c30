package import Foundation

/// A small file of the store in JSON, which only the user can read. A crash or a power loss leaves the old or the new
/// content.
///
/// Writers must hold a lock, so that two processes do not overwrite each other's changes.
package struct DurableFile: Sendable {
  package let url: URL

  package init(url: URL) { self.url = url }

  private var path: String { url.path(percentEncoded: false) }

  /// Whether the file exists.
  package var exists: Bool { url.exists }

  /// The time of the last change of the content; nil if the file is missing.
  package var modificationDate: Date? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
  }

  /// Reads the value; nil if the file is missing.
  ///
  /// - Throws: `DecodingError` for a value of another form; `FetchError` with `storage` if the file cannot be read.
  package func read<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    let data: Data
    do { data = try Data(contentsOf: url) } catch CocoaError.fileReadNoSuchFile { return nil } catch {
      throw FetchError(.storage, "cannot read \(path): \(StorageFailure.reason(error))")
    }
    return try JSONDecoder().decode(type, from: data)
  }

  /// Replaces the value.
  ///
  /// - Throws: `FetchError` with `storage`.
  package func write(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    let data: Data
    do { data = try encoder.encode(value) + Data("\n".utf8) } catch { throw failure(StorageFailure.reason(error)) }
    try write(data)
  }

  /// Replaces the content.
  ///
  /// - Throws: `FetchError` with `storage`.
  package func write(_ data: Data) throws {
    let temporary = path + ".new"
    do {
      let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      // A file that another version has left may be readable for others.
      fchmod(descriptor, 0o600)
      try handle.write(contentsOf: data)
      // The content reaches the disk before the name. A power loss therefore leaves the old or the new file.
      try handle.synchronize()
      try handle.close()
    } catch {
      unlink(temporary)
      throw failure(StorageFailure.reason(error))
    }
    guard rename(temporary, path) == 0 else {
      let reason = StorageFailure.system(errno)
      unlink(temporary)
      throw failure(reason)
    }
  }

  /// Removes the file, if it exists.
  ///
  /// - Throws: `FetchError` with `storage`.
  package func remove() throws {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw FetchError(.storage, "cannot remove \(path): \(StorageFailure.system(errno))")
    }
  }

  /// Reads the value; nil if the file is missing or damaged.
  ///
  /// - Throws: `FetchError` with `storage` if the file cannot be read.
  package func readIntact<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    do { return try read(type) } catch is DecodingError { return nil }
  }

  /// Reads the value, and renames a damaged file. The caller holds the lock of writers: otherwise another process may have
  /// replaced the damaged file by a good one meanwhile.
  ///
  /// - Returns: nil if the file is missing or damaged.
  /// - Throws: `FetchError` with `storage` if the file cannot be read.
  package func repaired<Value: Decodable>(
    _ type: Value.Type, _ name: String, _ log: @Sendable (String) -> Void
  ) throws -> Value? {
    do { return try read(type) } catch is DecodingError {
      log("\(name) in \(path) cannot be read\(renameDamaged().map { "; the file was renamed to \($0)" } ?? "")")
      return nil
    }
  }

  /// Renames a damaged file.
  ///
  /// - Returns: The new path; nil if the file cannot be renamed.
  package func renameDamaged() -> String? {
    let newPath = path + ".broken-\(Int(Date().timeIntervalSince1970))"
    return rename(path, newPath) == 0 ? newPath : nil
  }

  private func failure(_ reason: String) -> FetchError {
    FetchError(.storage, "cannot write \(path): \(reason); the file is unchanged")
  }
}
