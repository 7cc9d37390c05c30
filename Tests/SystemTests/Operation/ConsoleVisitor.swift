import Foundation
import TestSupport

/// A client of the console of a server process. Its pages are not part of the contract.
struct ConsoleVisitor {
  let port: Int
  /// The value of `Cookie`; nil without a session.
  private(set) var cookie: String?

  init(port: Int) {
    self.port = port
  }

  /// Reads a page without following redirects.
  func get(_ target: String) async throws -> TestResponse { try await send("GET", target, "", "") }

  /// Sends a form without files, and keeps the cookie of the response.
  mutating func post(_ target: String, _ fields: [(name: String, value: String)]) async throws -> TestResponse {
    let body = fields.map { field in
      [field.name, field.value].map { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
        .joined(separator: "=")
    }.joined(separator: "&")
    let type = "Origin: http://127.0.0.1:\(port)\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    let response = try await send("POST", target, type, body)
    if let pair = response["Set-Cookie"]?.prefix(while: { $0 != ";" }) { cookie = String(pair) }
    return response
  }

  /// Returns the hidden fields of the last form of a page. The first form of each page is the one to sign out.
  func hiddenFields(_ target: String) async throws -> [(name: String, value: String)] {
    let page = try await get(target)
    guard let form = page.text.components(separatedBy: "<form ").last else { return [] }
    let fields = form.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]*)"/)
    guard !fields.isEmpty else { throw Unexpected(description: "there is no form: \(page.status) \(page.text)") }
    return fields.map { (String($0.1), String($0.2)) }
  }

  /// Returns the token of the forms of the session.
  func token() async throws -> String {
    try await hiddenFields("/console/live").first { $0.name == "csrf" }?.value ?? ""
  }

  private func send(_ method: String, _ target: String, _ fields: String, _ body: String) async throws -> TestResponse {
    let request = """
      \(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\
      \(cookie.map { "Cookie: \($0)\r\n" } ?? "")\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)
      """
    guard let response = try await RawConnection.exchange(request, port: port).last else {
      throw Unexpected(description: "no response to \(method) \(target)")
    }
    return response
  }
}
