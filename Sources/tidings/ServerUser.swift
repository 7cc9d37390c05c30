import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// The user that a command works as.
enum ServerUser {
  /// A user that the process cannot become.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Makes the process work as another user, which only root can (`setuid(2)`); nothing changes for the present one.
  ///
  /// `HOME` follows, because libpq looks there for `.pgpass`.
  ///
  /// - Throws: `Failure`.
  static func become(_ name: String) throws {
    guard let entry = getpwnam(name)?.pointee else { throw Failure(description: "there is no user \(name) (--user)") }
    if geteuid() == entry.pw_uid, getuid() == entry.pw_uid { return }
    guard geteuid() == 0 else { throw Failure(description: "only root can work as another user (--user)") }
    let home = String(cString: entry.pw_dir)
    guard initgroups(entry.pw_name, entry.pw_gid) == 0, setgid(entry.pw_gid) == 0, setuid(entry.pw_uid) == 0 else {
      throw Failure(description: "cannot work as the user \(name): \(SystemReason(code: errno)) (--user)")
    }
    setenv("HOME", home, 1)
  }

  /// The name of the user, or its number.
  static var current: String {
    getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
  }
}
