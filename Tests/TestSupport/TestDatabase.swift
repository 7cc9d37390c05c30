import Foundation
import Logging
package import PostgresClient
import TestKit

/// A new database on the shared server, for one test or suite.
public struct TestDatabase: Sendable {
  /// The name of the database.
  public let name: String
  /// The URL of the database.
  public let url: String
  private let serverURL: String

  /// Creates an empty database, or a copy of a database without connections.
  ///
  /// - Parameters:
  ///   - template: The name of the database to copy; nil for an empty one.
  ///   - server: The URL of a database on the server; nil for the shared server.
  public static func create(template: String? = nil, on server: String? = nil) async throws -> TestDatabase {
    let serverURL = try server ?? TestCluster.sharedURL
    let name = "test_" + UUID().uuidString.lowercased().split(separator: "-").joined()
    // Copies the files, which takes half the processor time of a copy through the log.
    try await execute(
      "CREATE DATABASE \(name) TEMPLATE \(template ?? "template0") STRATEGY file_copy", at: serverURL)
    guard var components = URLComponents(string: serverURL) else {
      throw TestCluster.Failure(description: "the server's URL is malformed")
    }
    components.path = "/" + name
    return TestDatabase(name: name, url: components.string ?? serverURL, serverURL: serverURL)
  }

  /// Ends all sessions in the database and drops it.
  public func drop() async throws {
    try await Self.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)", at: serverURL)
  }

  /// Runs statements on a new connection.
  package static func execute(_ script: String, at url: String) async throws {
    let configuration = PostgresConfiguration.forBusyMachine(url)
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    try await PostgresConnection.with(configuration: configuration, logger: logger) {
      try await $0.execute(script: script)
    }
  }
}

/// Runs the body with the URL of a new database and drops the database afterwards.
public func withTestDatabase<Result: Sendable>(
  template: String? = nil, _ body: @Sendable (_ url: String) async throws -> Result
) async throws -> Result {
  try await withResource(try await TestDatabase.create(template: template), release: { try await $0.drop() }) {
    try await body($0.url)
  }
}

extension PostgresPoolConfiguration {
  /// A configuration with a long timeout for busy machines.
  package static var forBusyMachine: PostgresPoolConfiguration {
    var configuration = PostgresPoolConfiguration()
    configuration.acquireTimeout = .seconds(60)
    return configuration
  }
}

extension PostgresConfiguration {
  /// Returns a configuration with long timeouts for a machine that is busy with other tests: statements wait for the
  /// processor, and copies of databases wait for one another and for checkpoints.
  package static func forBusyMachine(_ url: String) -> PostgresConfiguration {
    var configuration = PostgresConfiguration(connectionString: url)
    configuration.statementTimeout = .seconds(120)
    configuration.connectTimeout = .seconds(60)
    configuration.idleTransactionTimeout = .seconds(600)
    return configuration
  }
}
