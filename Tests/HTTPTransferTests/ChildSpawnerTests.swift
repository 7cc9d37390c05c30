#if os(Linux)
  import Foundation
  import HTTPTransfer
  import TestKit
  import Testing

  @Suite("A program that is started") struct ChildSpawnerTests {
    private func spawner(_ script: String) -> ChildSpawner {
      ChildSpawner(executable: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin", "A": "b"])
    }

    @Test("has a process group of its own, no blocked or ignored signals, and only the given variables and files")
    func clean() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "tidings-child-\(UUID().uuidString)")
      let output = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      defer {
        close(output)
        unlink(file.path)
      }
      // Without close-on-exec.
      let other = open("/dev/null", O_RDONLY)
      defer { close(other) }
      // Other signals would be missed by the processes of other tests.
      let signals = [SIGPIPE, SIGHUP]
      let actions = signals.map { signal($0, SIG_IGN) }
      var (blocked, previous) = (sigset_t(), sigset_t())
      sigemptyset(&blocked)
      sigaddset(&blocked, SIGTERM)
      pthread_sigmask(SIG_BLOCK, &blocked, &previous)
      defer {
        pthread_sigmask(SIG_SETMASK, &previous, nil)
        for (number, action) in zip(signals, actions) { signal(number, action) }
      }
      let script = """
        while read -r name value; do case $name in SigBlk:|SigIgn:) echo $value;; esac; done </proc/self/status
        read -r line </proc/self/stat
        set -- $line
        echo $1 $5
        echo "$A$HOME"
        readlink /proc/$$/fd/0 /proc/$$/fd/2
        echo lost >&2 && echo written
        [ -e /proc/$$/fd/\(other) ] && echo inherited
        """
      let process = try spawner(script).start(output: output)
      waitpid(process, nil, 0)
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
      try #require(lines.count == 7, "\(lines)")
      #expect(UInt64(lines[0], radix: 16) == 0)
      let ignored = try #require(UInt64(lines[1], radix: 16))
      #expect(signals.allSatisfy { ignored & 1 << UInt64($0 - 1) == 0 })
      #expect(lines[2...] == ["\(process) \(process)", "b", "/dev/null", "/dev/null", "written"])
    }

    @Test("as a worker has its arguments and the environment of this process, and is reaped")
    func worker() async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "tidings-worker-\(UUID().uuidString)")
      // A path with a blank differs from its form in URLs.
      let program = FileManager.default.temporaryDirectory.appending(path: "tidings program-\(UUID().uuidString)")
      try FileManager.default.createSymbolicLink(at: program, withDestinationURL: URL(filePath: "/bin/sh"))
      defer { for path in [file.path, file.path + ".number", program.path] { unlink(path) } }
      let path = try #require(ProcessInfo.processInfo.environment["PATH"])
      let worker = WorkerProcess(
        executable: program,
        arguments: ["-c", #"echo $$ >"$1.number"; cat /proc/self/environ >"$1""#, "sh", file.path])
      try worker.start()
      try await eventually("it has written its environment") {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\0").contains { $0 == "PATH=\(path)" }
      }
      let number = try String(contentsOfFile: file.path + ".number", encoding: .utf8)
      let process = try #require(Int32(number.prefix { !$0.isNewline }))
      try await eventually("it is reaped") { kill(process, 0) != 0 }
    }

    @Test("without its end being awaited is reaped, and one that is missing is named")
    func detached() async throws {
      let process = try spawner("exit 0").startDetached()
      try await eventually("it is reaped") { kill(process, 0) != 0 }
      let missing = ChildSpawner(executable: "/missing/program", arguments: [], environment: [:])
      let failure = #expect(throws: ChildSpawner.Failure.self) { try missing.startDetached() }
      #expect(failure?.description == "cannot run /missing/program: No such file or directory")
    }
  }
#endif
