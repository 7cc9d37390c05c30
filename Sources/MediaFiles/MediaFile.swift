import Foundation

/// A file that is open for reading, until nobody refers to it any more.
public final class MediaFile: Sendable {
  /// Valid for as long as this object is; to be read at offsets and not to be closed.
  public let descriptor: Int32
  /// The length in bytes, which does not change.
  public let bytes: Int

  /// - Returns: nil if there is no such file.
  init?(path: String) throws(MediaError) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .last("open")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let error = MediaError.last("fstat")
      close(descriptor)
      throw error
    }
    bytes = Int(status.st_size)
    // Twice the usual read-ahead: who sends a file should rarely have to wait for the disk.
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  deinit {
    // Whoever closes a removed file last frees its blocks, which may take long.
    BlockingWork.start { [descriptor] in close(descriptor) }
  }
}

extension MediaError {
  /// The error of the call that has just failed.
  static func last(_ call: String) -> MediaError {
    let code = errno
    return [ENOSPC, EDQUOT, EFBIG].contains(code) ? .full : .failed(call, code: code)
  }
}
