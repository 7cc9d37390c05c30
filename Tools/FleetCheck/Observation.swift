import Fleet
import Foundation
import NIOHTTP1
import PostgresClient

/// The counts that the processes keep: the logs of nginx, the metrics of the servers, and the statements of PostgreSQL.
struct Observation: Sendable {
  /// The logs of the edges together.
  var edges = AccessLog()
  /// The log of nginx in front of the servers.
  var proxy = AccessLog()
  /// The public requests that the servers have answered, by their own count.
  var served = 0
  var statements = Statements()
  /// The messages that the mocks of push services have accepted.
  var messages = 0
  /// The responses as the phones have received them.
  var traffic = Traffic.Counts()
  /// The 99th percentile of the delays of actions behind their times.
  var delay = Duration.zero
}

/// The statements that PostgreSQL has executed, by their purpose.
struct Statements: Sendable {
  /// The statements that read a page of items or changes for a reader.
  var pages = 0
  /// The statements that read the content of items.
  var contents = 0
  /// All other statements, such as those of writes, of pushes and of the server's own upkeep.
  var others = 0

  var all: Int { pages + contents + others }

  /// The texts by which the statements are recognised (`ScopeSnapshot`, `ContentQuery` in NewsStore).
  private static let page = "AS position, c.* FROM"
  private static let content = "WITH ORDINALITY AS w (id, version, number)"

  /// Reads the statements since the last ``reset(_:)``.
  ///
  /// - Throws: The errors of the query.
  static func read(_ database: PostgresPool) async throws -> Statements {
    var statements = Statements()
    let rows = try await database.query(
      """
      SELECT query, calls FROM pg_stat_statements
      WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
      """)
    for row in rows {
      let text = try row.decode("query", as: String.self)
      let calls = try row.decode("calls", as: Int.self)
      if text.contains(page) {
        statements.pages += calls
      } else if text.contains(content) {
        statements.contents += calls
      } else {
        statements.others += calls
      }
    }
    return statements
  }

  /// Begins to count.
  static func reset(_ database: PostgresPool) async throws {
    _ = try await database.query("SELECT FROM pg_stat_statements_reset()")
  }
}

/// The metrics of a server in the text format of Prometheus.
struct ServerMetrics {
  /// The public requests that were answered.
  let requests: Int

  /// - Throws: The errors of the request.
  init(of server: String, _ traffic: Traffic) async throws {
    let text = String(decoding: try await traffic.send(.GET, server + "/metrics").body, as: UTF8.self)
    requests = text.split(separator: "\n").reduce(0) { sum, line in
      guard line.hasPrefix("tidings_http_requests_total{"), line.contains("route=\"/v1/"),
        !line.contains("route=\"/v1/editorial"), let value = line.split(separator: " ").last.flatMap({ Double($0) })
      else { return sum }
      return sum + Int(value)
    }
  }
}

/// The part of a file that was written since the creation.
struct FileTail {
  private let url: URL
  private let start: UInt64

  init(_ path: String) throws {
    url = URL(filePath: path)
    let file = try FileHandle(forReadingFrom: url)
    start = try file.seekToEnd()
    try file.close()
  }

  /// Reads the text.
  func read() throws -> String {
    let file = try FileHandle(forReadingFrom: url)
    defer { try? file.close() }
    try file.seek(toOffset: start)
    return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
  }
}

/// The output of push-mocks.
struct MockTotals {
  /// The messages that were accepted so far by all services.
  let accepted: Int

  /// - Throws: The errors of reading the file.
  init(_ path: String) throws {
    var totals: [Substring: Int] = [:]
    for line in try String(contentsOf: URL(filePath: path), encoding: .utf8).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count > 2, words[2] == "accepted,", let count = Int(words[1]) { totals[words[0]] = count }
    }
    accepted = totals.values.reduce(0, +)
  }
}
