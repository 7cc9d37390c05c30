import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// The system user that the process runs as.
enum ServerUser {
  /// Switches the process to another user, which only root can do (`setuid(2)`). If the process already runs as that
  /// user, nothing changes.
  ///
  /// `HOME` changes too, because libpq looks there for `.pgpass`.
  ///
  /// - Throws: `CommandError`.
  static func become(_ name: String) throws {
    guard let entry = getpwnam(name)?.pointee else { throw CommandError("there is no user \(name) (--user)") }
    if geteuid() == entry.pw_uid, getuid() == entry.pw_uid { return }
    guard geteuid() == 0 else { throw CommandError("only root can switch to another user (--user)") }
    let home = String(cString: entry.pw_dir)
    guard initgroups(entry.pw_name, entry.pw_gid) == 0, setgid(entry.pw_gid) == 0, setuid(entry.pw_uid) == 0 else {
      throw CommandError("cannot switch to the user \(name): \(SystemReason(code: errno)) (--user)")
    }
    setenv("HOME", home, 1)
  }

  /// The name of the current user, or its number.
  static var current: String {
    getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
  }
}
