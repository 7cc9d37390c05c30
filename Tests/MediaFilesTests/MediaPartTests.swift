import Crypto
import Foundation
import MediaFiles
import Testing

@Suite("A part of a file") struct MediaPartTests {
  private static func with(_ body: (any MediaPartStorage, MediaDirectory, URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-parts-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let directory = try MediaDirectory(folder)
    try await body(try #require(directory.parts), directory, folder)
  }

  private static func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  /// Appends bytes to a part, and closes it.
  private static func append(_ text: String, to id: UUID, at length: Int, _ parts: any MediaPartStorage) async throws {
    let part = try #require(try await parts.open(id))
    #expect(try await part.truncate(to: length) == length)
    try await part.write(Array(text.utf8))
    #expect(try await part.synchronize() == length + text.utf8.count)
    await part.close()
  }

  @Test("is continued, and becomes a file with the digest of all bytes")
  func continued() async throws {
    try await Self.with { parts, directory, folder in
      let id = UUID()
      #expect(try await parts.length(id) == 0)
      try await Self.append("%PDF-1.7", to: id, at: 0, parts)
      #expect(try await parts.length(id) == 8)
      #expect(try await parts.ids() == [id])
      let part = try #require(try await parts.open(id))
      #expect(try await part.truncate(to: 8) == 8)
      try await part.write(Array(" and more".utf8))
      #expect(part.length == 17)
      #expect(try await part.beginning(4) == Array("%PDF".utf8))
      let stored = try await part.finish(.pdf)
      #expect(stored.digest == MediaDigest(SHA256.hash(data: Data("%PDF-1.7 and more".utf8))))
      #expect(stored.bytes == 17)
      #expect(try await directory.open(stored.digest) == nil)
      try await part.publish()
      // The part remains until it is removed, so that a failed registration can be repeated.
      try await part.publish()
      #expect(try await directory.digests() == [stored.digest])
      #expect(try await parts.ids() == [id])
      try await part.remove()
      #expect(try Self.names(folder) == [stored.digest.hexadecimal])
      // A part that another process has removed is no failure.
      try await part.remove()
    }
  }

  @Test("has the digest of all bytes also if they are more than are read at a time")
  func large() async throws {
    try await Self.with { parts, _, _ in
      let (id, halves) = (UUID(), ([7, 8] as [UInt8]).map { [UInt8](repeating: $0, count: 1_500_000) })
      for (number, half) in halves.enumerated() {
        let length = number * half.count
        let part = try #require(try await parts.open(id))
        #expect(try await part.truncate(to: length) == length)
        try await part.write(half)
        if number > 0 {
          #expect(try await part.finish(.pdf).digest == MediaDigest(SHA256.hash(data: halves[0] + halves[1])))
        }
        await part.close()
      }
    }
  }

  @Test("replaces a file with the same content, whose date becomes new")
  func sameContent() async throws {
    try await Self.with { parts, directory, folder in
      let old = Date(timeIntervalSince1970: 1000)
      var digests: [MediaDigest] = []
      for _ in 0..<2 {
        let part = try #require(try await parts.open(UUID()))
        #expect(try await part.truncate(to: 0) == 0)
        try await part.write(Array("%PDF-1.7".utf8))
        let stored = try await part.finish(.pdf)
        try await part.publish()
        try await part.remove()
        digests.append(stored.digest)
        if digests.count == 1 {
          let file = folder.appending(path: stored.digest.hexadecimal)
          try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: file.path)
        }
      }
      #expect(Set(digests).count == 1)
      #expect(try Self.names(folder).count == 1)
      // The collection of unused files keeps a file that was stored again.
      #expect(try await directory.remove([digests[0]], storedBefore: old + 3600) == 0)
    }
  }

  @Test("becomes a file, and replaces one with the same content, also if it can have no second name")
  func noLinks() async throws {
    try await Self.with { parts, _, folder in
      let (id, content) = (UUID(), Data("%PDF-1.7".utf8))
      let path = folder.appending(path: "part-\(id.uuidString.lowercased())").path
      let part = try #require(try await parts.open(id))
      #expect(try await part.truncate(to: 0) == 0)
      try await part.write(Array(content))
      let file = folder.appending(path: try await part.finish(.pdf).digest.hexadecimal)
      // Few file systems have no hard links, but ext4 allows 65000 of a file.
      let links = folder.appending(path: "links")
      try FileManager.default.createDirectory(at: links, withIntermediateDirectories: false)
      var count = 0
      while count < 70_000, link(path, "\(links.path)/\(count)") == 0 { count += 1 }
      guard count < 70_000 else { return }
      try await part.publish()
      #expect(try Self.names(folder) == [file.lastPathComponent, "links"])
      // Another request has stored the same content before this one.
      try FileManager.default.moveItem(atPath: file.path, toPath: path)
      try content.write(to: file)
      try await part.publish()
      #expect(try Self.names(folder) == [file.lastPathComponent, "links"])
      var status = stat()
      _ = stat(file.path, &status)
      #expect(Int(status.st_nlink) == count + 1)
    }
  }

  @Test("becomes a file with the date of its publication, not that of its last byte")
  func publicationDate() async throws {
    try await Self.with { parts, directory, folder in
      let part = try #require(try await parts.open(UUID()))
      #expect(try await part.truncate(to: 0) == 0)
      try await part.write(Array("%PDF-1.7".utf8))
      let stored = try await part.finish(.pdf)
      let old = Date(timeIntervalSince1970: 1000)
      let file = folder.appending(path: try #require(try Self.names(folder).first))
      try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: file.path)
      try await part.publish()
      #expect(try await directory.remove([stored.digest], storedBefore: old + 3600) == 0)
    }
  }

  @Test("is open once at a time")
  func locked() async throws {
    try await Self.with { parts, _, _ in
      let id = UUID()
      let part = try #require(try await parts.open(id))
      #expect(try await part.truncate(to: 0) == 0)
      #expect(try await parts.open(id) == nil)
      #expect(try await parts.remove([id]) == 0)
      #expect(try await parts.ids() == [id])
      try await part.write([1])
      await part.close()
      let again = try #require(try await parts.open(id))
      #expect(try await again.truncate(to: 1) == 1)
    }
  }

  @Test("loses the bytes that nobody has recorded, and no others", arguments: [0, 3, 8])
  func truncated(length: Int) async throws {
    try await Self.with { parts, _, _ in
      let id = UUID()
      try await Self.append("%PDF-1.7", to: id, at: 0, parts)
      let part = try #require(try await parts.open(id))
      #expect(try await part.truncate(to: length) == length)
      try await part.write(Array("xyz".utf8))
      #expect(try await part.beginning(100) == Array("%PDF-1.7".utf8.prefix(length)) + Array("xyz".utf8))
      let whole = Data("%PDF-1.7".utf8.prefix(length)) + Data("xyz".utf8)
      #expect(try await part.finish(.pdf).digest == MediaDigest(SHA256.hash(data: whole)))
    }
  }

  @Test("is shorter than recorded if the folder has lost bytes")
  func lost() async throws {
    try await Self.with { parts, _, _ in
      let id = UUID()
      try await Self.append("%PDF", to: id, at: 0, parts)
      let part = try #require(try await parts.open(id))
      #expect(try await part.truncate(to: 100) == 4)
    }
  }

  @Test("is an error if it becomes shorter while it is open")
  func cut() async throws {
    try await Self.with { parts, _, folder in
      let id = UUID()
      try await Self.append("%PDF-1.7", to: id, at: 0, parts)
      let part = try #require(try await parts.open(id))
      #expect(try await part.truncate(to: 8) == 8)
      #expect(truncate(folder.appending(path: "part-\(id.uuidString.lowercased())").path, 4) == 0)
      await #expect(throws: MediaError.failed("pread", code: EIO)) { try await part.finish(.pdf) }
    }
  }

  @Test("is an error if it can neither take its place nor be removed, and a sweep removes its second name")
  func failing() async throws {
    try await Self.with { parts, directory, folder in
      let id = UUID()
      let part = try #require(try await parts.open(id))
      #expect(try await part.truncate(to: 0) == 0)
      try await part.write(Array("%PDF-1.7".utf8))
      // A file does not replace a folder.
      let place = folder.appending(path: try await part.finish(.pdf).digest.hexadecimal)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
      await #expect(throws: MediaError.failed("rename", code: EISDIR)) { try await part.publish() }
      await part.close()
      #expect(try await directory.sweep() == 1)
      #expect(try await parts.ids() == [id])
      let file = folder.appending(path: "part-\(id.uuidString.lowercased())")
      try FileManager.default.removeItem(at: file)
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
      await #expect(throws: MediaError.failed("unlink", code: EISDIR)) { try await part.remove() }
    }
  }

  @Test("is removed by its id, and by no sweep of uploads")
  func removed() async throws {
    try await Self.with { parts, directory, folder in
      let (id, second, other) = (UUID(), UUID(), UUID())
      for id in [id, second, other] { try await Self.append("%PDF", to: id, at: 0, parts) }
      // A copy that a person has made is no part.
      try Data("%PDF".utf8).write(to: folder.appending(path: "copy-\(UUID())"))
      try await directory.sweep()
      #expect(Set(try await parts.ids()) == [id, second, other])
      #expect(try await parts.remove([id, UUID(), second]) == 2)
      #expect(try await parts.ids() == [other])
    }
  }
}
