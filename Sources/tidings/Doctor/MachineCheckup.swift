import Foundation
import HTTPEdge
import NewsAPI

#if canImport(Glibc)
  import Glibc
#endif

/// The checks of `tidings doctor` on this machine.
struct MachineCheckup {
  let settings: Settings

  func findings() -> [Finding] { [user(), contract(), listener(), media(), proxies(), descriptors()] }

  private func user() -> Finding {
    if geteuid() != 0 { return .ok("user", "\(ServerUser.current), whose rights were looked at") }
    return .warning("user", "root, who may write anywhere: name the user of the server with --user")
  }

  private func contract() -> Finding {
    let path = settings.openAPI
    if path.isEmpty { return .ok("contract", "that of this version") }
    guard let size = try? Data(contentsOf: URL(filePath: path)).count, size > 0 else {
      return .problem("contract", "\(path) cannot be read: correct TIDINGS_OPENAPI, or leave it out")
    }
    return .ok("contract", path)
  }

  private func listener() -> Finding {
    let place = "\(settings.host):\(settings.port)"
    switch PortProbe.probe(host: settings.host, port: settings.port) {
    case .free: return .ok("listener", settings.port == 0 ? "any free port of \(settings.host)" : "\(place) is free")
    case .tidings: return .ok("listener", "a tidings answers at \(place)")
    case .taken:
      return .problem("listener", "\(place) is in use by something else: choose another TIDINGS_PORT")
    case .unusable(let reason):
      return .problem("listener", "\(place) cannot be listened on, \(reason): see TIDINGS_HOST and TIDINGS_PORT")
    }
  }

  private func media() -> Finding {
    let folder = settings.mediaDirectory
    if folder.isEmpty { return .ok("media", "files are not kept: TIDINGS_MEDIA_DIRECTORY is not set") }
    var isFolder: ObjCBool = false
    if !FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) { return missingMedia(folder) }
    let probe = "\(folder)/upload-doctor-\(UUID())"
    guard isFolder.boolValue, FileManager.default.createFile(atPath: probe, contents: Data([0])) else {
      return .problem("media", "\(folder) cannot be written to: it must be a folder of the server's user")
    }
    try? FileManager.default.removeItem(atPath: probe)
    guard let free = Self.freeSpace(folder) else { return .ok("media", folder) }
    let text = "\(DatabaseCheckup.megabytes(free)) are free in \(folder)"
    return free < settings.mediaLimit << 20
      ? .warning("media", "\(text), less than one file may have: make room or lower TIDINGS_MEDIA_LIMIT")
      : .ok("media", text)
  }

  /// Checks whether the server can create the missing folder.
  private func missingMedia(_ folder: String) -> Finding {
    var parent = URL(filePath: folder)
    while parent.path != "/", !FileManager.default.fileExists(atPath: parent.path) { parent.deleteLastPathComponent() }
    var status = stat()
    guard stat(parent.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, access(parent.path, W_OK | X_OK) == 0
    else {
      return .problem(
        "media",
        "\(folder) does not exist and cannot be made in \(parent.path): make it a folder of \(ServerUser.current)")
    }
    return .ok("media", "\(folder) does not exist yet; the server makes it")
  }

  private func proxies() -> Finding {
    let trusts = settings.trustedProxies.areKnown
    if !trusts, settings.publicURL?.hasPrefix("https:") == true {
      return .warning(
        "proxies",
        "TIDINGS_PUBLIC_URL is https, so a proxy asks for the readers: name its network in TIDINGS_TRUSTED_PROXIES")
    }
    if !trusts, settings.requestsPerAddress > 0 {
      return .warning(
        "proxies",
        "TIDINGS_ADDRESS_RATE is set, and behind a proxy all readers have its address: name it in TIDINGS_TRUSTED_PROXIES"
      )
    }
    return .ok("proxies", trusts ? "some are trusted to say for whom they ask" : "none are trusted")
  }

  private func descriptors() -> Finding {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return .ok("descriptors", "their limit is not known")
    }
    return limit.rlim_cur < 4096
      ? .warning(
        "descriptors", "\(limit.rlim_cur) at most, one for each connection: raise with ulimit -n or LimitNOFILE=")
      : .ok("descriptors", "\(limit.rlim_cur) at most")
  }

  /// Returns the bytes that a user may still write to a file system; nil if the file system does not report them.
  static func freeSpace(_ path: String) -> Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    // File systems without a limit report the largest number of blocks.
    let (bytes, hasOverflowed) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return hasOverflowed ? .max : Int(clamping: bytes)
  }
}
