import Crypto
import Foundation
import MediaFiles
import TestKit
import Testing

@Suite struct MediaDirectoryTests {
  static func with(_ body: (MediaDirectory, URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-media-\(UUID())/inner")
    defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
    try await body(try MediaDirectory(folder), folder)
  }

  private static func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  private static func store(_ parts: [[UInt8]], in directory: MediaDirectory) async throws -> MediaDigest {
    let upload = try await directory.begin()
    for part in parts { try await upload.write(part) }
    let stored = try await upload.finish(.pdf)
    try await upload.publish()
    return stored.digest
  }

  private static func read(_ file: MediaFile) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: file.bytes)
    return pread(file.descriptor, &bytes, bytes.count, 0) == bytes.count ? bytes : []
  }

  @Test("A file is available under its digest once it is published, not before")
  func publication() async throws {
    try await Self.with { directory, folder in
      let upload = try await directory.begin()
      try await upload.write(Array("ab".utf8))
      try await upload.write(Array("c".utf8))
      let stored = try await upload.finish(.pdf)
      #expect(stored.digest == MediaDigest(SHA256.hash(data: Data("abc".utf8))))
      #expect(stored.bytes == 3)
      #expect(try await directory.open(stored.digest) == nil)
      #expect(try await directory.digests().isEmpty)
      try await upload.publish()
      try await upload.publish()
      #expect(try Self.names(folder) == [stored.digest.hexadecimal])
      let file = try #require(try await directory.open(stored.digest))
      #expect(Self.read(file) == Array("abc".utf8))
      #expect(try await directory.digests() == [stored.digest])
      // A repeat does not report a file that was removed meanwhile.
      #expect(try await directory.remove([stored.digest], storedBefore: .distantFuture) == 1)
      await #expect(throws: MediaError.self) { try await upload.publish() }
    }
  }

  @Test("The size of a picture is read where its format has it")
  func pixelSize() async throws {
    try await Self.with { directory, _ in
      // The frame header of a JPEG, which follows two other bytes.
      let upload = try await directory.begin()
      try await upload.write([0xff, 0xd8, 0xff, 0xc0, 0, 8, 8, 1, 0xe0, 2, 0x80])
      let size = try await upload.finish(.jpeg).size
      #expect([size?.width, size?.height] == [640, 480])
    }
  }

  @Test("Equal content is stored once")
  func sameContent() async throws {
    try await Self.with { directory, folder in
      let first = try await Self.store([Array("abc".utf8)], in: directory)
      let second = try await Self.store([Array("a".utf8), Array("bc".utf8)], in: directory)
      #expect(first == second)
      #expect(try Self.names(folder) == [first.hexadecimal])
    }
  }

  @Test("An upload that is released without being published leaves no file")
  func abandoned() async throws {
    try await Self.with { directory, folder in
      do {
        let upload = try await directory.begin()
        try await upload.write([1, 2, 3])
        #expect(try Self.names(folder).count == 1)
      }
      // The file is removed asynchronously.
      let end = ContinuousClock.now + .seconds(60)
      while ContinuousClock.now < end, try !Self.names(folder).isEmpty { try await Task.sleep(for: .milliseconds(5)) }
      #expect(try Self.names(folder) == [])
    }
  }

  @Test("A sweep removes abandoned uploads and keeps active ones")
  func sweep() async throws {
    try await Self.with { directory, folder in
      try Data("dead".utf8).write(to: folder.appending(path: "upload-\(UUID())"))
      try Data("foreign".utf8).write(to: folder.appending(path: "README"))
      let living = try await directory.begin()
      try await living.write(Array("abc".utf8))
      #expect(try await directory.sweep() == 1)
      #expect(try Self.names(folder).count == 2)
      let stored = try await living.finish(.pdf)
      try await living.publish()
      #expect(try Self.names(folder) == [stored.digest.hexadecimal, "README"].sorted())
      try await directory.sweep()
      #expect(try await directory.open(stored.digest) != nil)
    }
  }

  @Test("An open file can be read to its end after it was removed or replaced")
  func openFiles() async throws {
    try await Self.with { directory, folder in
      let digest = try await Self.store([Array("abc".utf8)], in: directory)
      let file = try #require(try await directory.open(digest))
      #expect(try await directory.remove([digest], storedBefore: .distantPast) == 0)
      #expect(try await directory.remove([digest], storedBefore: .distantFuture) == 1)
      #expect(try await directory.remove([digest], storedBefore: .distantFuture) == 0)
      #expect(try await directory.open(digest) == nil)
      #expect(Self.read(file) == Array("abc".utf8))
    }
  }

  @Test("A file that may have been stored again since a date is kept, also if clocks differ a little")
  func storedBefore() async throws {
    try await Self.with { directory, folder in
      let digest = try await Self.store([Array("abc".utf8)], in: directory)
      let time = timespec(tv_sec: 1000, tv_nsec: 900_000_000)
      #expect(utimensat(AT_FDCWD, folder.appending(path: digest.hexadecimal).path, [time, time], 0) == 0)
      // File systems may drop fractions of seconds, and the time of a file is that of a tick some milliseconds ago.
      for (date, count) in [(1000.5, 0), (1000.95, 0), (1060, 0), (1061, 1)] {
        let removed = try await directory.remove([digest], storedBefore: Date(timeIntervalSince1970: date))
        #expect(removed == count, "\(date)")
      }
    }
  }

  @Test("A file has the date of its publication, not that of its last byte")
  func publicationDate() async throws {
    try await Self.with { directory, folder in
      let upload = try await directory.begin()
      try await upload.write(Array("abc".utf8))
      let stored = try await upload.finish(.pdf)
      let file = folder.appending(path: try #require(try Self.names(folder).first))
      let old = Date(timeIntervalSince1970: 1000)
      try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: file.path)
      try await upload.publish()
      #expect(try await directory.remove([stored.digest], storedBefore: old + 3600) == 0)
    }
  }

  @Test("A folder that cannot be created or used is an error at once")
  func unusable() {
    #expect(throws: (any Error).self) { try MediaDirectory(URL(filePath: "/dev/null/media")) }
    #expect(throws: MediaError.failed("opendir", code: ENOTDIR)) { try MediaDirectory(URL(filePath: "/dev/null")) }
    #expect(throws: MediaError.failed("stat", code: ENOTDIR)) {
      try MediaDirectory(URL(filePath: "/dev/null/media"), createsFolder: false)
    }
    // The reason is that of the system.
    #expect(throws: MediaError.failed("mkdir", code: ENOENT)) {
      try MediaDirectory(URL(filePath: "/proc/tidings-media"))
    }
    // Not even root can write there.
    #expect(throws: MediaError.self) { try MediaDirectory(URL(filePath: "/proc/sys")) }
  }

  @Test("A label, a file or a part that cannot be opened is an error, not a missing one")
  func unreadable() async throws {
    try await Self.with { directory, folder in
      let (digest, part) = (MediaDigest(SHA256.hash(data: Data("abc".utf8))), UUID())
      for name in ["library.json", digest.hexadecimal, "part-\(part.uuidString.lowercased())"] {
        // A link to itself.
        try FileManager.default.createSymbolicLink(
          atPath: folder.appending(path: name).path, withDestinationPath: name)
      }
      let error = MediaError.failed("open", code: ELOOP)
      await #expect(throws: error) { try await directory.label() }
      await #expect(throws: error) { try await directory.open(digest) }
      await #expect(throws: error) { try await directory.open(part) }
      await #expect(throws: MediaError.failed("stat", code: ELOOP)) { try await directory.length(part) }
    }
  }

  /// Returns the open descriptors of a folder and of files in it, including removed ones.
  ///
  /// - Parameter prefix: The beginning of the names of the files.
  private static func openDescriptors(_ folder: URL, of prefix: String = "") throws -> [Int32] {
    let name = folder.deletingLastPathComponent().lastPathComponent + (prefix.isEmpty ? "" : "/inner")
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number in
      let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
      return path?.contains("/\(name)/\(prefix)") == true ? Int32(number) : nil
    }
  }

  @Test("Uploads, parts, labels, downloads, lists and sweeps leave no descriptor open")
  func descriptors() async throws {
    try await Self.with { directory, folder in
      let digest = try await Self.store([Array("abc".utf8)], in: directory)
      let id = UUID()
      do {
        let file = try #require(try await directory.open(digest))
        let part = try #require(try await directory.open(id))
        let upload = try await directory.begin()
        let held = try ["part-", "upload-"].flatMap { try Self.openDescriptors(folder, of: $0) } + [file.descriptor]
        #expect(held.count == 3)
        // A program that is started meanwhile inherits none of them.
        for descriptor in held { #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC) }
        try await upload.write([1])
        #expect(Self.read(file) == Array("abc".utf8))
        #expect(try await part.truncate(to: 0) == 0)
        try await part.write(Array("%PDF-1.7".utf8))
        _ = try await part.finish(.pdf)
        try await part.publish()
        await part.close()
      }
      try await directory.setLabel(Data("a".utf8))
      #expect(try await directory.label() == Data("a".utf8))
      try Data().write(to: folder.appending(path: "upload-\(UUID())"))
      try await directory.sweep()
      #expect(try await directory.remove([id]) == 1)
      #expect(try await directory.digests().count == 2)
      // Files are closed asynchronously.
      try await eventually("all are closed") { try Self.openDescriptors(folder).isEmpty }
    }
  }

  @Test("A folder that is gone is an error, not an empty one")
  func goneFolder() async throws {
    try await Self.with { directory, folder in
      try FileManager.default.removeItem(at: folder)
      await #expect(throws: MediaError.self) { try await directory.digests() }
      await #expect(throws: MediaError.self) { try await directory.hasFiles() }
      await #expect(throws: MediaError.self) { try await directory.sweep() }
    }
  }

  @Test(
    "A folder has files if one of its names is that of a file, of an upload or of a part",
    arguments: [
      (String(repeating: "0", count: 64), true), ("upload-\(UUID())", true), ("part-\(UUID())", true),
      ("library.json", false), ("lost+found", false), (String(repeating: "0", count: 63), false),
    ])
  func files(name: String, isFile: Bool) async throws {
    try await Self.with { directory, folder in
      #expect(try await !directory.hasFiles())
      try Data("x".utf8).write(to: folder.appending(path: name))
      #expect(try await directory.hasFiles() == isFile)
      #expect(try await directory.digests().count == (name.utf8.count == 64 ? 1 : 0))
    }
  }

  @Test(
    "A digest has 64 hexadecimal digits in lower case",
    arguments: [
      "", "00", String(repeating: "A", count: 64), String(repeating: "g", count: 64),
      "../\(String(repeating: "0", count: 61))",
      // A copy that a person or a tool has made beside the file.
      "\(String(repeating: "0", count: 64)).tmp",
    ])
  func digests(text: String) {
    #expect(MediaDigest(hexadecimal: text) == nil)
    let digest = MediaDigest(SHA256.hash(data: Data(text.utf8)))
    #expect(MediaDigest(hexadecimal: digest.hexadecimal) == digest)
    #expect(MediaDigest(bytes: Data(text.utf8)) == nil)
  }

  @Test("A missing folder is created with its label, and by nothing else")
  func missing() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-media-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let directory = try MediaDirectory(folder, createsFolder: false)
    #expect(try await !directory.exists())
    await #expect(throws: MediaError.failed("open", code: ENOENT)) { try await directory.begin() }
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    try await directory.setLabel(Data("a".utf8))
    #expect(try await directory.exists())
    #expect(try await directory.label() == Data("a".utf8))
    #expect(try await !directory.hasFiles())
    try await directory.setLabel(Data("bc".utf8))
    #expect(try await directory.label() == Data("bc".utf8))
    // A file that no server has written is not read to its end.
    try Data(count: 65_537).write(to: folder.appending(path: "library.json"))
    #expect(try await directory.label()?.count == 65_536)
    #expect(try await directory.sweep() == 0)
    _ = try await directory.open(UUID())
    #expect(try await directory.hasFiles())
  }

  @Test("Nobody but the user and the group of the server can read a file, a part, an upload and the label")
  func permissions() async throws {
    try await Self.with { directory, folder in
      let digest = try await Self.store([Array("%PDF-1.7".utf8)], in: directory)
      try await directory.setLabel(Data("a".utf8))
      _ = try await directory.open(UUID())
      let upload = try await directory.begin()
      try await upload.write([1])
      let names = try Self.names(folder)
      #expect(names.count == 4 && names.contains(digest.hexadecimal))
      for name in names {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
        let mode = try #require(attributes[.posixPermissions] as? Int)
        #expect(mode & 0o600 == 0o600 && mode & 0o137 == 0, "\(name): \(String(mode, radix: 8))")
      }
      _ = try await upload.finish(.pdf)
    }
  }

  @Test("A label that cannot take its place leaves no file")
  func failingLabel() async throws {
    try await Self.with { directory, folder in
      // A file does not replace a folder.
      let place = folder.appending(path: "library.json")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
      await #expect(throws: MediaError.self) { try await directory.setLabel(Data("a".utf8)) }
      #expect(try Self.names(folder) == ["library.json"])
    }
  }

  @Test("A file that cannot take its place is an error, and its bytes are removed")
  func failingFile() async throws {
    try await Self.with { directory, folder in
      do {
        let upload = try await directory.begin()
        try await upload.write(Array("abc".utf8))
        // A file does not replace a folder.
        let place = folder.appending(path: try await upload.finish(.pdf).digest.hexadecimal)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        await #expect(throws: MediaError.failed("rename", code: EISDIR)) { try await upload.publish() }
      }
      try await eventually("they are removed") { try Self.names(folder).count == 1 }
    }
  }
}
