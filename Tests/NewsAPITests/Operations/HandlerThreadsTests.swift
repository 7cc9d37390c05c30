import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsStore
import TestSupport
import Testing

@Suite("The threads of handlers") struct HandlerThreadsTests {
  /// A module whose responses name the thread of their handler.
  private struct Probe: RouteModule {
    let root = "/console/probe"

    func addRoutes(to router: Router<APIContext>) {
      router.get("/console/probe") { _, _ in Self.thread() }
    }

    private static func thread() -> String { Thread.current.name ?? "" }

    func errorPage(of problem: Problem, headers: HTTPFields) -> (fields: HTTPFields, text: String) { ([:], "") }

    func editor(of request: HTTPRequest) -> String? { request.headerFields[.cookie] == "session=known" ? "a" : nil }
  }

  @Test("are those of editors for a secret that was found lately, and those of strangers for any other")
  func threads() async throws {
    try await TestServer.with(modules: { _ in [Probe()] }) { server in
      func thread(_ headers: (String, String)...) async throws -> String {
        try await server.send("GET", "/console/probe", headers: headers).text
      }
      var threads = [
        try await thread(), try await thread(("Cookie", "session=known")),
        try await thread(("Cookie", "session=other")),
      ]
      let key = try await server.store.createKey(name: "harbour", permissions: [.itemsWrite])
      let authorization = ("Authorization", "Bearer \(key)")
      threads.append(try await thread(authorization))
      _ = try await server.store.authenticate(key)
      threads.append(try await thread(authorization))
      threads.append(try await thread(("Authorization", "Bearer tdk_00000000_x")))
      let (editors, others) = ("tidings.editors", "tidings.others")
      #expect(threads == [others, editors, others, others, editors, others])
    }
  }
}
