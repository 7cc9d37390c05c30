import Foundation

/// Whole reads and writes of open files.
enum DescriptorIO {
  /// Writes all bytes at the present position.
  static func append(_ bytes: [UInt8], to descriptor: Int32) throws(MediaError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .last("write") }
      rest = rest.dropFirst(count)
    }
  }

  /// Reads bytes at an offset; fewer at the end of the file.
  static func read(_ descriptor: Int32, at offset: Int, count: Int) throws(MediaError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let found = pread(descriptor, &bytes, count, off_t(offset))
    guard found >= 0 else { throw .last("pread") }
    return Array(bytes.prefix(found))
  }

  /// Writes the entries of a folder to disk.
  static func synchronizeFolder(_ path: String) throws(MediaError) {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw .last("open") }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw .last("fsync") }
  }
}
