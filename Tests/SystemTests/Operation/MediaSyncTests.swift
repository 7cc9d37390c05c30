import Foundation
import News
import TestSupport
import Testing

/// Files and power cuts: what a server has written to disk before it answers, by its system calls.
@Suite struct MediaSyncTests {
  private static let strace = "/usr/bin/strace"
  private static let isAvailable = FileManager.default.isExecutableFile(atPath: strace)

  /// Returns the calls in a trace that are about a folder, each with the kinds of its files.
  private static func calls(_ trace: URL, about folder: URL) throws -> [String] {
    try String(decoding: Data(contentsOf: trace), as: UTF8.self).split(separator: "\n").compactMap { line in
      // The end of a call that another one has interrupted has no parenthesis after the name.
      guard let call = line.firstMatch(of: /\b(fsync|fdatasync|rename|link)[at2]*\(/)?.output.1 else { return nil }
      let names = line.components(separatedBy: folder.lastPathComponent).dropFirst()
      return names.isEmpty ? nil : "\(call) " + names.map { kind(String($0)) }.joined(separator: " ")
    }
  }

  /// Returns the kind of a file by the rest of a call from its folder on.
  private static func kind(_ rest: String) -> String {
    let name = rest.drop { $0 == "/" }.prefix { $0 != ">" && $0 != "\"" }
    if name.isEmpty { return "folder" }
    if name == "library.json" { return "label" }
    return ["upload-", "part-"].first { name.hasPrefix($0) }.map { String($0.dropLast()) } ?? "file"
  }

  @Test(
    "A label, a file and a part are on disk, with the names of the files, before they are answered for",
    .enabled(if: isAvailable, "needs strace"))
  func synchronised() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await installation.makeKey(scopes: ["media:write"])
        let trace = folder.appendingPathExtension("trace")
        defer { try? FileManager.default.removeItem(at: trace) }
        // The server is the child process, and strace a process beside it.
        let launcher = [
          Self.strace, "-D", "-f", "-qq", "-y", "-e", "signal=none", "-o", trace.path,
          "-e", "trace=fsync,fdatasync,?rename,?renameat,?renameat2,?link,?linkat",
        ]
        try await installation.serve(
          launcher: launcher, changes: ["TIDINGS_MEDIA_DIRECTORY": folder.path]
        ) { server in
          var known = 0
          func newCalls() throws -> [String] {
            let calls = try Self.calls(trace, about: folder)
            defer { known = calls.count }
            return Array(calls.dropFirst(known))
          }
          let adoption = try newCalls()
          #expect(adoption == ["fsync upload", "rename upload label", "fsync folder"])
          #expect(try await FileArchive.upload(FileArchive.late, key, server).status == 201)
          let upload = try newCalls()
          #expect(upload == ["fsync upload", "rename upload file", "fsync folder"])

          let version = ("Upload-Draft-Interop-Version", "6")
          let begun = try await server.client.send(
            "POST", "/v1/editorial/media", key: key,
            headers: [version, ("Upload-Complete", "?0"), ("Content-Type", "image/png")])
          let path = try #require(begun["Location"])
          func append(_ bytes: Data, at offset: Int, _ isComplete: String) async throws -> Int {
            let headers = [
              version, ("Upload-Offset", "\(offset)"), ("Upload-Complete", isComplete),
              ("Content-Type", "application/partial-upload"),
            ]
            return try await server.client.send("PATCH", path, key: key, headers: headers, file: bytes).status
          }
          #expect(try await append(FileArchive.further.prefix(500), at: 0, "?0") == 204)
          let part = try newCalls()
          #expect(part == ["fdatasync part"])
          #expect(try await append(FileArchive.further[500...], at: 500, "?1") == 201)
          let end = try newCalls()
          #expect(end == ["fdatasync part", "fsync part", "link part file", "fsync folder"])
        }
      }
    }
  }

  @Test(
    "A large file is written to disk while it arrives, and is refused if that fails",
    .enabled(if: isAvailable, "needs strace"))
  func failingDisk() async throws {
    try await withMediaFolder { folder in
      try await Installation.with { installation in
        let key = try await installation.makeKey(scopes: ["media:write"])
        let launcher = [
          Self.strace, "-D", "-f", "-qq", "-e", "signal=none", "-o", "/dev/null", "-e", "trace=fdatasync",
          "-e", "inject=fdatasync:error=EIO",
        ]
        try await installation.serve(
          launcher: launcher, changes: ["TIDINGS_MEDIA_DIRECTORY": folder.path]
        ) { server in
          #expect(try await FileArchive.upload(FileArchive.late, key, server).status == 201)
          // The number of bytes after which the server waits for the disk.
          let large = FileArchive.late + Data(count: (64 << 20) - FileArchive.late.count)
          let refused = try await FileArchive.upload(large, key, server)
          #expect(try refused.json(Problem.self, status: 503).type == "/problems/storage-failed")
        }
      }
    }
  }
}
