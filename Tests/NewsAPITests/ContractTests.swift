import Foundation
import Hummingbird
import NewsAPI
import NewsStore
import PostgresClient
import TestSupport
import Testing

@Suite struct ContractTests {
  @Test("The routes are exactly those of openapi.yaml")
  func routesEqualTheFile() async throws {
    let store = NewsStore(connection: PostgresConfiguration(connectionString: ""), logger: NewsDatabase.logger)
    let router = NewsAPI(store: store, settings: NewsAPI.Settings()).router()
    let routes = router.routes.map {
      Contract.Operation(method: $0.method.rawValue, path: $0.path.description)
    }
    #expect(try routes.sorted() == Contract.shared.get().operations.sorted())
    await store.shutdown()
  }

  @Test("openapi.yaml declares no default responses, which would allow any response")
  func noDefaultResponses() throws {
    let file = try String(contentsOf: Project.root.appending(path: "openapi.yaml"), encoding: .utf8)
    #expect(!file.contains(/^ +default:\n/.anchorsMatchLineEndings()))
  }

  @Test("openapi.yaml is served with an entity tag")
  func fileIsServed() async throws {
    try await TestServer.with { server in
      let answer = try await server.get("/openapi.yaml")
      #expect(answer.status == 200)
      #expect(answer["Content-Type"] == "application/yaml")
      #expect(answer.body == (try Data(contentsOf: Project.root.appending(path: "openapi.yaml"))))
      let again = try await server.get("/openapi.yaml", ("If-None-Match", try #require(answer["ETag"])))
      #expect(again.status == 304)
    }
  }

  @Test(
    "A response that openapi.yaml does not allow is detected",
    arguments: [
      (201, "application/json", #"{"status": "ok"}"#),
      (200, "text/plain", "ok"),
      (200, "application/json", #"{"status": 7}"#),
      (200, "application/json", #"{"status": "ok", "more": 1}"#),
      (200, "application/json", "{}"),
    ])
  func violationsAreFound(status: Int, type: String, body: String) throws {
    #expect(throws: Contract.Violation.self) {
      try Contract.shared.get().check(
        method: "GET", target: "/healthz", status: status,
        headers: [("Content-Type", type), ("Cache-Control", "no-store"), ("X-Request-Id", "1")], body: Data(body.utf8))
    }
  }
}
