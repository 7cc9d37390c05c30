import Foundation

/// A file that is open for reading until the last reference to it is released.
public final class MediaFile: Sendable {
  /// The file descriptor, valid while this object exists. Read it at offsets, and do not close it.
  public let descriptor: Int32
  /// The length in bytes, which does not change.
  public let bytes: Int

  /// - Returns: nil if the file does not exist.
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
    // This doubles the usual read-ahead, so that the sender of a file rarely waits for the disk.
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  deinit {
    // The last close of a removed file frees its blocks, which may take long.
    BlockingWork.start { [descriptor] in close(descriptor) }
  }
}

extension MediaError {
  /// Returns the error of the call that has just failed.
  static func last(_ call: String) -> MediaError {
    let code = errno
    return [ENOSPC, EDQUOT, EFBIG].contains(code) ? .full : .failed(call, code: code)
  }
}
