import Foundation

/// The locks, reads and writes of open files.
enum DescriptorIO {
  /// Locks a file, so that no sweep removes it as abandoned.
  ///
  /// - Returns: false if it is locked elsewhere, or was removed before the lock.
  static func lock(_ descriptor: Int32) throws(MediaError) -> Bool {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      if errno == EWOULDBLOCK { return false }
      throw .last("flock")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .last("fstat") }
    return status.st_nlink > 0
  }

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

  /// Writes a file to disk, and reads the size of its picture.
  ///
  /// - Returns: nil for a format without pixels, and for a picture whose size cannot be read.
  static func complete(_ descriptor: Int32, _ format: MediaFormat) throws(MediaError) -> PixelSize? {
    guard fsync(descriptor) == 0 else { throw .last("fsync") }
    return try PixelSize.of(format) { offset, count throws(MediaError) in
      try read(descriptor, at: offset, count: count)
    }
  }

  /// Gives a file the present date.
  static func renewDate(_ descriptor: Int32) throws(MediaError) {
    guard futimens(descriptor, nil) == 0 else { throw .last("futimens") }
  }

  /// Writes the entries of a folder to disk.
  static func synchronizeFolder(_ path: String) throws(MediaError) {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw .last("open") }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw .last("fsync") }
  }
}
