import ArgumentParser
import AsyncHTTPClient
import GRDB
import NIOCore
import NIOHTTP1
import NIOPosix

/// The baseline for the cost of a fetch: the client's libraries without Tidings' own code.
@main
struct BareClient: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "BareClient",
    abstract: """
      Finds out that there is nothing new with the client's libraries alone: opens a database, reads a tag, sends one \
      conditional request, and writes the tag of the answer.
      """)

  @Argument(help: "What is asked for.") var url: String
  @Argument(help: "The path of the database.") var database: String

  func run() async throws {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      try database.execute(sql: "PRAGMA synchronous = NORMAL")
    }
    let queue = try DatabaseQueue(path: database, configuration: configuration)
    let known = try await queue.write { database in
      try database.execute(sql: "CREATE TABLE IF NOT EXISTS answer (tag TEXT)")
      return try String.fetchOne(database, sql: "SELECT tag FROM answer")
    }
    let client = HTTPClient(eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: 1)))
    var request = HTTPClientRequest(url: url)
    if let known { request.headers.add(name: "If-None-Match", value: known) }
    let response = try await client.execute(request, timeout: .seconds(30))
    _ = try await response.body.collect(upTo: 1 << 20)
    let tag = response.headers.first(name: "ETag")
    try await queue.write { database in
      try database.execute(sql: "DELETE FROM answer; INSERT INTO answer VALUES (?)", arguments: [tag])
    }
    try await client.shutdown()
  }
}
