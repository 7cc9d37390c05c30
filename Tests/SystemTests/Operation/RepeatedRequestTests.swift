import Foundation
import News
import PostgresClient
import TestKit
import TestSupport
import Testing

/// Requests with an `Idempotency-Key` over several servers that are killed.
@Suite struct RepeatedRequestTests {
  private static let requests = rounds(1000)
  private static let body = #"{"text": "once", "topics": []}"#

  @Test("Hundreds of concurrent repetitions of a request over two servers, which are killed meanwhile, have one effect")
  func killed() async throws {
    try await Installation.with { installation in
      let key = try await installation.makeKey()
      let servers = try await ServerPair(installation)
      do {
        let answers = try await Self.answers(installation, servers, key)
        #expect(answers.count == Self.requests)
        #expect(Set(answers.map(\.text)).count == 1, "all have the same answer")
        #expect(answers.count { !$0.isReplayed } <= 1)
        #expect(try await installation.value("SELECT count(*) FROM items") == 1)
        #expect(try await installation.value("SELECT count(*) FROM change_log WHERE scope = ''") == 1)
        #expect(try await installation.value("SELECT count(*) FROM idempotency_answers") == 1)
      } catch {
        await servers.kill()
        throw error
      }
      await servers.kill()
    }
  }

  private struct Answer: Sendable {
    var text: String
    var isReplayed: Bool
  }

  /// Sends all requests, and kills each server while the first request runs, and again later.
  private static func answers(
    _ installation: Installation, _ servers: ServerPair, _ key: String
  ) async throws -> [Answer] {
    let tasks = try await installation.sql.transaction { transaction in
      // Answers cannot be stored, so that the first request is still running when its server is killed.
      _ = try await transaction.query("LOCK TABLE idempotency_answers IN SHARE MODE")
      let tasks = (0..<requests).map { number in Task { try await answer(number, servers, key) } }
      try await eventually("a request waits") {
        try await installation.value(
          "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
      }
      try await servers.restart(0)
      try await servers.restart(1)
      return tasks
    }
    do {
      var answers: [Answer] = []
      for task in tasks {
        answers.append(try await task.value)
        if answers.count == 1 { try await servers.restart(0) }
      }
      return answers
    } catch {
      for task in tasks { task.cancel() }
      throw error
    }
  }

  /// Repeats a request until it has an answer, as a client does: after errors, and with growing pauses.
  private static func answer(_ number: Int, _ servers: ServerPair, _ key: String) async throws -> Answer {
    var pause = 100.0
    for attempt in 0..<100 {
      let response: TestResponse?
      do {
        response = try await servers.client(number + attempt).send(
          "POST", "/v1/editorial/items", key: key, headers: [("Idempotency-Key", "\"the one\"")], body: body)
      } catch let violation as Contract.Violation {
        throw violation
      } catch {
        // The server was killed.
        response = nil
      }
      if let response, response.status == 201 {
        return Answer(text: response.text, isReplayed: response["Idempotency-Replayed"] == "true")
      }
      if let response, ![409, 503].contains(response.status) {
        throw Unexpected(description: "\(response.status): \(response.text)")
      }
      try await Task.sleep(for: .milliseconds(Int.random(in: Int(pause / 2)...Int(pause))))
      pause = min(pause * 1.5, 4000)
    }
    throw Unexpected(description: "a request has no answer")
  }
}

/// Two servers over one database that are killed and started again.
private actor ServerPair {
  private let installation: Installation
  private var running: [RunningServer]

  init(_ installation: Installation) async throws {
    self.installation = installation
    running = [try await installation.start(), try await installation.start()]
  }

  func client(_ number: Int) -> TestClient { running[number % 2].client }

  /// Kills a server and starts another one in its place.
  func restart(_ index: Int) async throws {
    await running[index].process.kill()
    running[index] = try await installation.start()
  }

  func kill() async {
    for server in running { await server.process.kill() }
  }
}
