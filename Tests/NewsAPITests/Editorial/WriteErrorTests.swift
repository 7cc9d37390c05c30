import Foundation
import News
import TestSupport
import Testing

/// The errors that an editor's program receives for refused writes.
@Suite struct WriteErrorTests {
  private struct Row: Sendable, CustomTestStringConvertible {
    var method = "POST"
    var path = "items"
    var headers: [(String, String)] = []
    var body: String?
    var status: Int
    /// The fields or parameters at fault.
    var fields: [String] = []
    /// A part of the rule or of the explanation.
    var rule: String

    var testDescription: String { "\(method) \(path) \(headers) \(body ?? "")" }
  }

  private static let item = "items/ITEM"
  private static let valid = #"{"date": "2026-01-01T00:00:00Z", "text": "x"}"#

  /// Returns a JSON array of topics.
  private static func slugs(_ count: Int) -> String {
    "[" + (1...count).map { "\"t\($0)\"" }.joined(separator: ",") + "]"
  }

  private static let rows = [
    Row(body: "{}", status: 422, fields: ["text"], rule: "is required"),
    Row(
      body: #"{"date": "2026-01-01", "text": "x"}"#, status: 422, fields: ["date"], rule: "must be an RFC 3339 date"),
    Row(
      body: #"{"date": "2026-01-01T00:00:00Z", "text": 7}"#, status: 422, fields: ["text"], rule: "must be"),
    Row(
      body: #"{"date": "2026-01-01T00:00:00Z", "text": "x", "titel": "y"}"#, status: 422, fields: ["titel"],
      rule: "is not a field"),
    Row(
      body: #"{"date": "2026-01-01T00:00:00Z", "text": "x", "topics": ["nowhere"]}"#, status: 422, fields: ["topics"],
      rule: "nowhere"),
    Row(
      body:
        #"{"date": "2026-01-01T00:00:00Z", "text": "x", "attachments": [{"url": "ftp://a/b", "type": "image/png"}]}"#,
      status: 422, fields: ["attachments[0].url"], rule: "http or https"),
    Row(body: "{", status: 400, rule: ""),
    Row(headers: [("Content-Type", "text/plain")], body: "x", status: 415, rule: "application/json"),
    Row(path: "items?publish=1", body: valid, status: 400, fields: ["publish"], rule: ""),
    Row(method: "PUT", path: item, body: valid, status: 428, rule: "If-Match"),
    Row(method: "PATCH", path: item, body: #"{"text": "y"}"#, status: 428, rule: "If-Match"),
    Row(method: "DELETE", path: item, status: 428, rule: "If-Match"),
    Row(
      method: "PUT", path: item, headers: [("If-None-Match", "\"r1\"")], body: valid, status: 400,
      fields: ["If-None-Match"], rule: "must be *"),
    Row(method: "PUT", path: item, headers: [("If-Match", "\"r9\"")], body: valid, status: 412, rule: "Read it again"),
    Row(
      method: "PATCH", path: item, headers: [("If-Match", "*")], body: #"{"state": "retracted"}"#, status: 422,
      fields: ["state"], rule: "DELETE"),
    Row(
      method: "DELETE", path: item + "?reason=", headers: [("If-Match", "*")], status: 400, fields: ["reason"], rule: ""
    ),
    Row(method: "POST", path: item + "/erase", status: 409, rule: "Retract it first"),
    Row(
      method: "PUT", path: item, headers: [("If-Match", "*")],
      body: #"{"id": "019a0000-0000-7000-8000-000000000000", "date": "2026-01-01T00:00:00Z", "text": "x"}"#,
      status: 422,
      fields: ["id"], rule: "must equal the id in the path"),
    Row(
      body: #"{"date": "2026-01-01T00:00:00Z", "text": "x\#u{7f}"}"#, status: 422, fields: ["text"],
      rule: "control characters"),
    Row(
      body: #"{"date": "2026-01-01T00:00:00Z", "text": "x", "topics": \#(slugs(17))}"#, status: 422, fields: ["topics"],
      rule: "at most 16 topics"),
    Row(path: "topics", body: #"{"slug": "City"}"#, status: 422, fields: ["slug"], rule: "[a-z0-9-]"),
    Row(path: "topics", body: #"{"slug": "city"}"#, status: 409, rule: "PUT"),
    Row(
      method: "PUT", path: "topics/city", headers: [("If-Match", "*")], body: #"{"slug": "town"}"#, status: 422,
      fields: ["slug"], rule: "must equal the slug in the path"),
  ]

  @Test(
    "A refused write names each invalid field or parameter with its rule, or says what to do",
    .sharedServer, arguments: rows)
  private func names(row: Row) async throws {
    try await TestServer.withShared { server in
      _ = try await server.write("POST", "topics", #"{"slug": "city", "position": 7}"#)
      let item = try await server.publish("x").item.id.uuidString.lowercased()
      let response = try await server.send(
        row.method, "/v1/editorial/" + row.path.replacing("ITEM", with: item), key: server.key, headers: row.headers,
        body: row.body)
      let problem = try response.json(Problem.self, status: row.status)
      #expect(problem.errors?.map(\.field) ?? [] == row.fields)
      if row.fields.isEmpty {
        let detail = try #require(problem.detail)
        #expect(row.rule.isEmpty || detail.contains(row.rule), "\(detail)")
      } else {
        for error in problem.errors ?? [] {
          #expect(row.rule.isEmpty || error.rule.contains(row.rule), "\(error.rule)")
        }
      }
    }
  }
}
