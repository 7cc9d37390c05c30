import AsyncHTTPClient
import GRDB
import NIOCore
import NIOHTTP1
import NIOPosix

/// Finds out that there is nothing new with the client's libraries alone: opens a database, reads a tag, sends one
/// conditional request, and writes the tag of the answer. What a fetch costs beside it is ours.
///
///     BareClient URL DATABASE
@main
struct BareClient {
  static func main() async throws {
    let (url, path) = (CommandLine.arguments[1], CommandLine.arguments[2])
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      try database.execute(sql: "PRAGMA synchronous = NORMAL")
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
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
