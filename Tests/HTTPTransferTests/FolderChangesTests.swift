import Foundation
import HTTPTransfer
import Synchronization
import TestKit
import Testing

@Suite("A wait for changes in a folder", .timeLimit(.minutes(2))) struct FolderChangesTests {
  /// A change of a file by its name.
  enum Change: CaseIterable {
    case creation, content, attributes, removal, move

    /// Whether the file is there before.
    var hasFile: Bool { [.content, .attributes, .removal].contains(self) }

    func make(_ file: URL) throws {
      switch self {
      case .creation: close(open(file.path, O_WRONLY | O_CREAT, 0o600))
      case .content:
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: Data([1]))
        try handle.close()
      case .attributes: utimes(file.path, nil)
      case .removal: unlink(file.path)
      case .move:
        let other = FileManager.default.temporaryDirectory.appending(path: "tidings-moved-\(UUID().uuidString)")
        try Data().write(to: other)
        rename(other.path, file.path)
      }
    }
  }

  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tidings-changes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  /// Waits for a change for a minute of the clock.
  private func waiting(_ changes: FolderChanges, _ clock: ManualClock, until condition: () async throws -> Void)
    async throws
  {
    let isOver = Mutex(false)
    let task = Task {
      await changes.wait(upTo: 60, clock: clock)
      isOver.withLock { $0 = true }
    }
    defer { task.cancel() }
    try await condition()
    try await eventually("the wait is over") { isOver.withLock(\.self) }
  }

  @Test("ends with any kind of change of a relevant file", arguments: Change.allCases)
  func kinds(change: Change) async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "relevant")
      if change.hasFile { try Data().write(to: file) }
      let (changes, clock) = (FolderChanges(folder: folder) { $0 == "relevant" }, ManualClock())
      try await waiting(changes, clock) {
        try await eventually("it waits") { clock.sleeping == [60] }
        try change.make(file)
      }
    }
  }

  @Test(
    "ends with a change after many others, even if the kernel drops it because they are too many",
    arguments: [false, true])
  func manyChanges(isOverflow: Bool) async throws {
    try await withFolder { folder in
      let names = ["first", "second", "third", "relevant"]
      for name in names { try Data().write(to: folder.appending(path: name)) }
      let text = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
      let limit = try #require(Int(text.prefix { !$0.isNewline }))
      let hasBegun = Mutex(false)
      let (mayContinue, clock) = (DispatchSemaphore(value: 0), ManualClock())
      let changes = FolderChanges(folder: folder) { name in
        if name == "first" {
          hasBegun.withLock { $0 = true }
          mayContinue.wait()
        }
        return name == "relevant"
      }
      try await waiting(changes, clock) {
        try await eventually("it waits") { clock.sleeping == [60] }
        utimes(folder.appending(path: "first").path, nil)
        try await eventually("the first change is read") { hasBegun.withLock(\.self) }
        // Equal changes in a row would be one.
        for number in 0..<(isOverflow ? limit + 10 : 2) {
          utimes(folder.appending(path: names[1 + number % 2]).path, nil)
        }
        utimes(folder.appending(path: "relevant").path, nil)
        mayContinue.signal()
      }
    }
  }

  @Test("does not end with a change of another file")
  func otherFiles() async throws {
    try await withFolder { folder in
      let names = Mutex<[String]>([])
      let changes = FolderChanges(folder: folder) { name in
        names.withLock { $0.append(name) }
        return name == "relevant"
      }
      // When the second change is read, the first one has had its effect.
      for name in ["first", "second"] {
        try Data().write(to: folder.appending(path: name))
        try await eventually("the \(name) change is read") { names.withLock { $0.contains(name) } }
      }
      let clock = ManualClock()
      let start = clock.now
      let task = Task {
        await changes.wait(upTo: 60, clock: clock)
        return clock.now.seconds(since: start)
      }
      try await eventually("it waits") { clock.sleeping == [60] }
      clock.advance(by: 60)
      let waited = await task.value
      #expect(waited == 60)
    }
  }

  @Test("ends at once after a signal since the last one, and once only")
  func signalled() async throws {
    try await withFolder { folder in
      let (changes, clock) = (FolderChanges(folder: folder) { _ in false }, ManualClock())
      changes.signal()
      try await waiting(changes, clock) {}
      // The signal is used up, also one during a wait.
      try await waiting(changes, clock) {
        try await eventually("it waits") { clock.sleeping == [60] }
        changes.signal()
      }
      try await waiting(changes, clock) {
        try await eventually("it waits") { clock.sleeping == [60] }
        clock.advance(by: 60)
      }
    }
  }

  @Test("ends at once in a task that was cancelled before")
  func cancelled() async throws {
    try await withFolder { folder in
      let (changes, clock) = (FolderChanges(folder: folder) { _ in false }, ManualClock())
      let isOver = Mutex(false)
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        await changes.wait(upTo: 60, clock: clock)
        isOver.withLock { $0 = true }
      }
      task.cancel()
      try await eventually("the wait is over") { isOver.withLock(\.self) }
    }
  }

  @Test("leaves no watch of the folder behind")
  func released() async throws {
    try await withFolder { folder in
      var information = stat()
      try #require(stat(folder.path, &information) == 0)
      // The line of a watch in the information about its descriptor (proc_pid_fdinfo(5)).
      let mark = " ino:" + String(information.st_ino, radix: 16) + " "
      func isWatched() throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").contains { name in
          let text = (try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)) ?? ""
          return text.contains(mark)
        }
      }
      do {
        let changes = FolderChanges(folder: folder) { _ in true }
        #expect(try isWatched())
        withExtendedLifetime(changes) {}
      }
      try await eventually("its watch is gone") { try !isWatched() }
    }
  }

  @Test("leaves no descriptor behind if the folder cannot be watched")
  func unwatchedDescriptors() async throws {
    for _ in 0..<60 { _ = FolderChanges(folder: URL(filePath: "/missing")) { _ in true } }
    // Other tests may be about to watch a folder.
    try await eventually("most of the descriptors are closed") {
      let unused = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        let text = (try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)) ?? ""
        return target == "anon_inode:inotify" && !text.contains("inotify wd:")
      }
      return unused.count < 30
    }
  }

  @Test("ends after a second in a folder that cannot be watched")
  func unwatched() async throws {
    let (changes, clock) = (FolderChanges(folder: URL(filePath: "/missing")) { _ in true }, ManualClock())
    try await waiting(changes, clock) {
      try await eventually("it waits") { clock.sleeping == [1] }
      clock.advance(by: 1)
    }
  }
}
