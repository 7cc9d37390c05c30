import Foundation

/// The file descriptors that the process keeps free.
///
/// A process must not use its last descriptor. Once a second, libdispatch opens a file in `/proc` for each of its threads,
/// and it ends the process if that fails. What clients open in any number therefore ends earlier: connections while a
/// quarter of the descriptors is free, files while an eighth is. The rest is for the database and for requests to other
/// servers, whose numbers are limited, and for the runtime.
///
///     guard FreeDescriptors.suffice(for: .file) else { throw MediaError.failed("open", code: EMFILE) }
package enum FreeDescriptors {
  /// Something that clients open in any number.
  package enum Use {
    case connection, file

    /// The number of descriptors that are left free, of a limit.
    func reserve(of limit: Int) -> Int {
      switch self {
      case .connection: max(limit / 4, 48)
      case .file: max(limit / 8, 32)
      }
    }
  }

  /// The limit on open descriptors, and the maximum to which the process can raise it (getrlimit(2), `RLIMIT_NOFILE`);
  /// nil for a limit that does not exist or cannot be read.
  package static var limits: (current: Int?, maximum: Int?) {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return (nil, nil) }
    return (Int(exactly: limit.rlim_cur), Int(exactly: limit.rlim_max))
  }

  /// Raises the limit to its maximum. It is 1024 in most environments, because of programs that use select(2).
  package static func raiseLimit() {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    // Some containers allow a thousand million, which no machine has memory for.
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 1 << 20))
    _ = setrlimit(resource, &limit)
  }

  /// Returns whether clients may open one more descriptor. It takes about a microsecond.
  package static func suffice(for use: Use) -> Bool {
    guard let limit = limits.current else { return true }
    // The lowest free descriptor, as a new one would be (POSIX.1-2017, fcntl).
    let lowest = fcntl(0, F_DUPFD_CLOEXEC, 0)
    // Standard input may be closed in a test.
    guard lowest >= 0 else { return errno == EBADF }
    close(lowest)
    return Int(lowest) < limit - use.reserve(of: limit)
  }

  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
