import Foundation
import TestKit
import TestSupport

/// The programs of others that read and check feeds.
enum FeedTools {
  private static func isExecutable(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

  private static let python = "/usr/bin/python3"
  private static let jing = "/usr/bin/jing"
  private static let newsboat = "/usr/bin/newsboat"

  /// Whether Debian's Python has the library `feedparser`.
  static let hasFeedparser =
    isExecutable(python) && FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/feedparser")
  static let hasJing = isExecutable(jing)
  static let hasNewsboat = isExecutable(newsboat) && isExecutable(python)

  /// Runs a program to its end.
  ///
  /// - Returns: Its standard output.
  /// - Throws: `Unexpected` with its output if it fails.
  static func run(_ program: String, _ arguments: [String], home: String = "/nonexistent") async throws -> String {
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.lowercased().hasSuffix("_proxy") }
    environment["HOME"] = home
    environment["LC_ALL"] = "C.UTF-8"
    let result = try await ChildProcess(arguments, executable: program, environment: environment).result()
    guard result.status == 0 else {
      throw Unexpected(description: "\(program): \(result.status)\n\(result.output)\n\(result.errors)")
    }
    return result.output
  }

  /// Runs a program in Python.
  static func python(_ program: String, _ arguments: String...) async throws -> String {
    try await run(python, ["-c", program] + arguments)
  }

  /// Validates Atom against the grammar of RFC 4287.
  ///
  /// - Throws: `Unexpected` with the errors.
  static func validateAtom(_ document: Data) async throws {
    try await withFolder(["feed.atom": String(decoding: document, as: UTF8.self)]) { folder in
      let grammar = Project.root.appending(path: "Tests/SystemTests/Feeds/atom.rnc").path
      _ = try await run(jing, ["-c", grammar, folder.appending(path: "feed.atom").path])
    }
  }

  /// The outcome of `feedparser`.
  struct Parsed: Decodable {
    var bozo: Bool
    var problem: String
    var version: String
    var titles: [String: String]
  }

  /// Parses Atom or RSS with `feedparser`.
  static func parse(_ document: Data) async throws -> Parsed {
    try await withFolder(["feed": String(decoding: document, as: UTF8.self)]) { folder in
      let output = try await python(
        """
        import feedparser, json, sys
        feed = feedparser.parse(open(sys.argv[1], 'rb').read())
        print(json.dumps({'bozo': bool(feed.bozo), 'problem': str(feed.get('bozo_exception', '')),
          'version': feed.version, 'titles': {entry.id: entry.get('title', '') for entry in feed.entries}}))
        """, folder.appending(path: "feed").path)
      return try JSONDecoder().decode(Parsed.self, from: Data(output.utf8))
    }
  }

  /// Runs newsboat, which reads the feed of its folder.
  static func reload(_ folder: URL) async throws {
    func path(_ name: String) -> String { folder.appending(path: name).path }
    _ = try await run(
      newsboat, ["-u", path("urls"), "-c", path("cache.db"), "-C", path("config"), "-x", "reload"], home: folder.path)
  }
}

/// A reader of a feed, a program of others.
protocol FeedFollower: Sendable {
  /// Reads the feed, and returns the title of each item that the reader knows, by its id.
  func read() async throws -> [String: String]
}

/// A reader made of `feedparser`. It keeps what it has read in a file, and sends `A-IM: feed`.
struct FeedparserFollower: FeedFollower {
  let url: String
  let folder: URL

  func read() async throws -> [String: String] {
    let output = try await FeedTools.python(
      """
      import feedparser, json, os, sys
      path = sys.argv[2]
      state = json.load(open(path)) if os.path.exists(path) else {'etag': None, 'titles': {}}
      feed = feedparser.parse(sys.argv[1], etag=state['etag'])
      if feed.status in (200, 226):
        if feed.bozo:
          sys.exit(str(feed.bozo_exception))
        state['titles'].update({entry.id: entry.get('title', '') for entry in feed.entries})
        state['etag'] = feed.etag
      elif feed.status != 304:
        sys.exit(str(feed.status))
      json.dump(state, open(path, 'w'))
      print(json.dumps(state['titles']))
      """, url, folder.appending(path: "state.json").path)
    return try JSONDecoder().decode([String: String].self, from: Data(output.utf8))
  }
}

/// The reader newsboat. From its third request on, it sends `A-IM: feed`.
struct NewsboatFollower: FeedFollower {
  let folder: URL

  init(url: String, folder: URL) throws {
    self.folder = folder
    try Data("\(url)\n".utf8).write(to: folder.appending(path: "urls"))
    try Data("keep-articles-days 0\n".utf8).write(to: folder.appending(path: "config"))
  }

  func read() async throws -> [String: String] {
    try await FeedTools.reload(folder)
    let output = try await FeedTools.python(
      """
      import json, sqlite3, sys
      print(json.dumps(dict(sqlite3.connect(sys.argv[1]).execute('SELECT guid, title FROM rss_item'))))
      """, folder.appending(path: "cache.db").path)
    return try JSONDecoder().decode([String: String].self, from: Data(output.utf8))
  }
}
