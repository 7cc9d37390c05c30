import BackgroundFetch
import FaultServer
import Foundation
import GRDB
import News
import NewsClient
import Synchronization
import TestKit
import Testing

#if os(Linux)
  @Suite("The program for new items, beside a desktop") struct NotificationProgramTests {
    private static func program(_ installation: Installation) -> URL {
      // A name that is another one in a URL.
      installation.folder.appending(path: "100% of a program")
    }

    /// Writes the program: a script of the shell, which runs in the folder of the store.
    private static func write(_ script: String, _ installation: Installation) throws {
      try Data("#!/bin/sh\ncd \"$TIDINGS_STORE\"\n\(script)\n".utf8).write(to: program(installation))
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program(installation).path)
    }

    /// A script that notes the numbers of items and of breaking items.
    private static let counting = #"echo "$TIDINGS_NEW $TIDINGS_BREAKING" >>runs"#

    /// Returns the lines that the runs of the program have noted.
    private static func runs(_ installation: Installation) -> [String] {
      let text = (try? String(contentsOf: installation.folder.appending(path: "runs"), encoding: .utf8)) ?? ""
      return text.split(separator: "\n").map(String.init)
    }

    @Test("runs in quiet hours with breaking items only; the others follow when the hours have ended")
    func quietHours() async throws {
      try await Installation.with { installation in
        // The clock begins on a Tuesday at 22:13:20.
        let client = try await installation.notifier(
          RecordingPresenter(), quietHours: QuietHours(from: 22 * 60, to: 7 * 60), program: Self.program(installation))
        try Self.write(Self.counting, installation)
        installation.feed.publish("old")
        await client.fetchAndDeliver()
        installation.feed.publish("one", title: "One")
        installation.publishBreaking("Flood")
        await client.fetchAndDeliver()
        #expect(Self.runs(installation) == ["1 1"])
        installation.clock.advance(by: 9 * 3600)
        await client.notifications.deliver()
        #expect(Self.runs(installation) == ["1 1", "1 0"])
        try await eventually("its time limit waits no longer") { installation.clock.sleeping == [] }
      }
    }

    /// Returns the number of open pipes, and of open files without a name from which a program has read.
    private static func openFiles() -> Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return names.count { name in
        let file = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) ?? ""
        if file.hasPrefix("pipe:") { return true }
        return file.hasSuffix(" (deleted)") && file.split(separator: "/").last?.hasPrefix("tidings-") == true
      }
    }

    @Test("leaves no file or pipe open, also if it is missing", arguments: [false, true])
    func openFiles(isMissing: Bool) async throws {
      try await Installation.with { installation in
        let client = try await installation.notifier(RecordingPresenter(), program: Self.program(installation))
        if !isMissing { try Self.write("exit 0", installation) }
        let before = Self.openFiles()
        for _ in 0..<30 {
          let failures = await client.notifications.test()
          #expect(failures.isEmpty != isMissing, "\(failures)")
        }
        // Other tests may run such programs meanwhile.
        try await eventually("they are closed") { Self.openFiles() < before + 20 }
      }
    }

    @Test("reads the items from a file that no longer has a name, and that nobody else could have read")
    func unnamedFile() async throws {
      try await Installation.with { installation in
        let client = try await installation.notifier(RecordingPresenter(), program: Self.program(installation))
        try Self.write("readlink /proc/$$/fd/0 >>runs; stat -L -c %a /proc/$$/fd/0 >>runs", installation)
        installation.feed.publish("old")
        await client.fetchAndDeliver()
        installation.feed.publish("one", title: "One")
        await client.fetchAndDeliver()
        let lines = Self.runs(installation)
        #expect(lines.count == 2 && lines.first?.hasSuffix(" (deleted)") == true, "\(lines)")
        #expect(lines.last == "600")
      }
    }

    @Test("runs without the desktop if only the program is on, also in a trial")
    func alone() async throws {
      try await Installation.with { installation in
        let presenter = RecordingPresenter()
        var options = NotificationOptions()
        options.program = Self.program(installation)
        var configuration = NewsFetcher.Configuration(
          folder: installation.folder, feed: try installation.followedFeed(), userAgent: "tests/1")
        configuration.presenter = presenter
        configuration.notifications = options
        let clock = installation.clock
        let client = try NewsFetcher(
          configuration, application: ApplicationLifecycle(launchReason: .fetch, clock: clock), clock: clock)
        try Self.write(Self.counting, installation)
        installation.feed.publish("old")
        await client.fetchAndDeliver()
        installation.publishBreaking("Flood")
        await client.fetchAndDeliver()
        #expect(Self.runs(installation) == ["1 1"])
        #expect(await client.notifications.test() == [])
        #expect(Self.runs(installation) == ["1 1", "1 1"])
        #expect(presenter.presented == [])
        #expect(try client.notifications.waitingItems == 0)
      }
    }

    @Test("does not wait for a desktop that hangs, not even in another process")
    func hangingDesktop() async throws {
      try await Installation.with { installation in
        let presenter = RecordingPresenter()
        let first = try await installation.notifier(presenter)
        let second = try await installation.notifier(presenter, program: Self.program(installation))
        try Self.write(Self.counting, installation)
        installation.feed.publish("old")
        await first.fetchAndDeliver()
        presenter.mode.withLock { $0 = .hangs }
        installation.feed.publish("one", title: "One")
        #expect(await first.performFetch(.scheduled).result == .newData)
        try await eventually("the desktop hangs") { installation.clock.sleeping.contains(10) }
        installation.feed.publish("two", title: "Two")
        #expect(await second.performFetch(.scheduled).result == .newData)
        try await eventually("the program has run") { Self.runs(installation) == ["1 0"] }
        presenter.mode.withLock { $0 = .works }
        installation.clock.advance(by: 10)
        for client in [first, second] { _ = await client.application.suspend() }
        await second.notifications.deliver()
        #expect(presenter.titles == ["2 new stories"] && Self.runs(installation) == ["1 0"])
      }
    }

    @Test("and the desktop each receive the items once, also if the other one fails first", arguments: [false, true])
    func failures(isProgramMissing: Bool) async throws {
      try await Installation.with { installation in
        let (presenter, reports) = (RecordingPresenter(), Reports())
        let client = try await installation.notifier(
          presenter, program: Self.program(installation), log: reports.note)
        installation.feed.publish("old")
        await client.fetchAndDeliver()
        if !isProgramMissing { try Self.write(Self.counting, installation) }
        presenter.mode.withLock { $0 = isProgramMissing ? .works : .fails }
        installation.feed.publish("one", title: "One")
        await client.fetchAndDeliver()
        #expect(await client.notifications.deliver().count == 1)
        #expect(presenter.titles == (isProgramMissing ? ["One"] : []))
        #expect(Self.runs(installation) == (isProgramMissing ? [] : ["1 0"]))
        #expect(try client.notifications.waitingItems == (isProgramMissing ? 0 : 1))
        #expect(reports.texts.count == 1, "\(reports.texts)")
        try Self.write(Self.counting, installation)
        presenter.mode.withLock { $0 = .works }
        for _ in 0..<2 { await client.notifications.deliver() }
        #expect(presenter.titles == ["One"] && Self.runs(installation) == ["1 0"])
      }
    }

    /// Runs the body with a client for which an item waits, because the desktop fails and the program is missing.
    private func waiting(
      _ body: (Installation, RecordingPresenter, LocalNotifications) async throws -> Void
    ) async throws {
      try await Installation.with { installation in
        let presenter = RecordingPresenter()
        let client = try await installation.notifier(presenter, program: Self.program(installation))
        installation.feed.publish("old")
        await client.fetchAndDeliver()
        presenter.mode.withLock { $0 = .fails }
        installation.feed.publish("one", title: "One")
        await client.fetchAndDeliver()
        presenter.mode.withLock { $0 = .works }
        try Self.write(Self.counting, installation)
        try await body(installation, presenter, client.notifications)
      }
    }

    @Test("receives the items that wait for it although the desktop is turned off meanwhile")
    func desktopTurnedOff() async throws {
      try await waiting { installation, presenter, notifications in
        var options = NotificationOptions()
        options.program = Self.program(installation)
        try notifications.setOptions(options)
        await notifications.deliver()
        #expect(Self.runs(installation) == ["1 0"] && presenter.presented == [])
      }
    }

    @Test("runs three times in one delivery at most, even if the store always has another item")
    func endless() async throws {
      try await waiting { installation, _, notifications in
        let queue = try DatabaseQueue(path: installation.folder.appending(path: "news.sqlite").path)
        // The record of a run does not find this item.
        try await queue.write { db in try db.execute(sql: "UPDATE unmentioned SET id = 'other', desktop = 0") }
        await notifications.deliver()
        #expect(Self.runs(installation).count == 3)
      }
    }

    @Test("that a signal has ended is reported by the signal, and not run again")
    func signal() async throws {
      try await Installation.with { installation in
        let client = try await installation.notifier(RecordingPresenter(), program: Self.program(installation))
        try Self.write(Self.counting + "; kill -TERM $$", installation)
        installation.feed.publish("old")
        await client.fetchAndDeliver()
        installation.feed.publish("one", title: "One")
        await client.fetchAndDeliver()
        let run = try #require(try client.runs(limit: 1).first)
        let notice = run.notice ?? "none"
        #expect(notice.hasSuffix("/100% of a program was ended by signal 15"), "\(notice)")
        #expect(run.programStatus == nil, "a signal is no exit status")
        await client.notifications.deliver()
        #expect(Self.runs(installation) == ["1 0"])
      }
    }

    @Test("and the desktop are tried with the newest item, also in quiet hours, and nothing is recorded")
    func trial() async throws {
      try await Installation.with { installation in
        let presenter = RecordingPresenter()
        let client = try await installation.notifier(
          presenter, quietHours: QuietHours(from: 22 * 60, to: 7 * 60), program: Self.program(installation))
        try Self.write(Self.counting, installation)
        #expect(await client.notifications.test() == [])
        #expect(presenter.titles == ["Notifications work"] && Self.runs(installation) == ["0 0"])
        for title in ["One", "Two"] { installation.feed.publish("text", title: title) }
        await client.fetchAndDeliver()
        #expect(await client.notifications.test() == [])
        #expect(presenter.titles == ["Notifications work", "Two"] && Self.runs(installation) == ["0 0", "1 0"])
        #expect(try client.notifications.delivered == [])
        presenter.mode.withLock { $0 = .fails }
        try Self.write(Self.counting + "; exit 3", installation)
        let failures = await client.notifications.test()
        #expect(failures.first == "the desktop is away")
        #expect(failures.last?.hasSuffix("/100% of a program has ended with status 3") == true, "\(failures)")
        try Self.write("echo no room >&2; exit 3", installation)
        #expect(await client.notifications.test().last?.hasSuffix(" has ended with status 3: no room") == true)
        try Self.write("kill -TERM $$", installation)
        #expect(await client.notifications.test().last?.hasSuffix(" was ended by signal 15") == true)
        // A dump of its memory does not change the number of the signal.
        try Self.write("ulimit -c unlimited 2>/dev/null; kill -SEGV $$", installation)
        #expect(await client.notifications.test().last?.hasSuffix(" was ended by signal 11") == true)
      }
    }

    @Test("is ended at once if its delivery is cancelled")
    func cancelled() async throws {
      try await Installation.with { installation in
        let client = try await installation.notifier(RecordingPresenter(), program: Self.program(installation))
        installation.feed.publish("old")
        await client.fetchAndDeliver()
        installation.feed.publish("one", title: "One")
        // The program is missing, so the item waits for the next delivery.
        await client.fetchAndDeliver()
        try Self.write("echo $$ >>runs; exec /bin/sleep 600", installation)
        let delivery = Task { await client.notifications.deliver() }
        try await eventually("it runs") { !Self.runs(installation).isEmpty }
        let process = try #require(Self.runs(installation).first.flatMap { pid_t($0) })
        let isOver = { !FileManager.default.fileExists(atPath: "/proc/\(process)") }
        defer { if !isOver() { kill(process, SIGKILL) } }
        delivery.cancel()
        try await eventually("it has ended") { isOver() }
        _ = await delivery.value
      }
    }
  }
#endif
