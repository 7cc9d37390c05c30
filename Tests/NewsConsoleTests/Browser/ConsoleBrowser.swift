import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport

/// A browser without scripts: it keeps cookies, reads forms, and sends them as browsers do.
final class ConsoleBrowser: Sendable {
  private static let http: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    // A busy machine may be slow to accept connections.
    configuration.timeout.connect = .seconds(50)
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()

  /// The scheme and authority of the server.
  let url: String
  private let headers: [(String, String)]
  private let jar = Mutex<[String: String]>([:])

  init(url: String, _ headers: [(String, String)] = []) {
    self.url = url
    self.headers = headers
  }

  /// The cookies by name.
  var cookies: [String: String] {
    get { jar.withLock { $0 } }
    set { jar.withLock { $0 = newValue } }
  }

  /// Reads a page without following redirects.
  func get(_ target: String, _ headers: (String, String)...) async throws -> ConsolePage {
    try await send("GET", target, headers, nil)
  }

  /// Reads a page, and those to which it redirects.
  func open(_ target: String) async throws -> ConsolePage {
    var page = try await get(target)
    for _ in 0..<5 {
      guard let location = page["Location"] else { return page }
      page = try await get(location)
    }
    return page
  }

  /// Sends a form and follows the redirect to the next page.
  ///
  /// - Parameter action: The value of the button `action`.
  func submit(
    _ form: ConsoleForm, _ action: String? = nil, files: [FormFile] = []
  ) async throws -> ConsolePage {
    let answer = try await post(form, action, files: files)
    guard let location = answer["Location"] else { return answer }
    return try await open(location)
  }

  /// Sends a form without following a redirect.
  ///
  /// - Parameters:
  ///   - target: The path to send it to; nil for that of the form.
  ///   - headers: The fields that say where the form comes from; by default those of the same site.
  func post(
    _ form: ConsoleForm, _ action: String? = nil, to target: String? = nil, files: [FormFile] = [],
    headers: [(String, String)]? = nil
  ) async throws -> ConsolePage {
    var fields = form.fields
    if let action { fields.append(("action", action)) }
    let (type, body) = form.isMultipart ? Self.multipart(fields, files) : Self.urlEncoded(fields)
    return try await send(
      "POST", target ?? form.action,
      [("Content-Type", type)] + (headers ?? [("Origin", url), ("Sec-Fetch-Site", "same-origin")]), body)
  }

  /// Signs in with a key.
  ///
  /// - Returns: The answer to the form, without following a redirect.
  @discardableResult
  func signIn(_ key: String, next: String? = nil) async throws -> ConsolePage {
    let target = next.map { "?next=\($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" } ?? ""
    var form = try await get("/console/sign-in\(target)").form("/console/sign-in")
    form["key"] = key
    return try await post(form)
  }

  func send(
    _ method: String, _ target: String, _ headers: [(String, String)], _ body: Data?
  ) async throws -> ConsolePage {
    var request = HTTPClientRequest(url: url + target)
    request.method = .init(rawValue: method)
    for (name, value) in self.headers + headers { request.headers.add(name: name, value: value) }
    let pairs = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    if !pairs.isEmpty { request.headers.add(name: "Cookie", value: pairs.joined(separator: "; ")) }
    if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
    let response = try await Self.http.execute(request, timeout: .seconds(60))
    let content = try await response.body.collect(upTo: 1 << 24)
    for field in response.headers["Set-Cookie"] { store(field) }
    return ConsolePage(
      status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
      text: String(buffer: content), target: target)
  }

  private func store(_ field: String) {
    let parts = field.split(separator: ";")
    let pair = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let isRemoved = parts.contains { $0.trimmingPrefix(" ") == "Max-Age=0" }
    jar.withLock { $0[pair[0]] = isRemoved ? nil : pair[1] }
  }

  /// Encodes fields as browsers do, with CR LF as line ends.
  private static func urlEncoded(_ fields: [(name: String, value: String)]) -> (type: String, body: Data) {
    func encoded(_ text: String) -> String {
      text.replacing("\n", with: "\r\n").addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
    let pairs = fields.map { "\(encoded($0.name))=\(encoded($0.value))" }
    return ("application/x-www-form-urlencoded", Data(pairs.joined(separator: "&").utf8))
  }

  private static func multipart(
    _ fields: [(name: String, value: String)], _ files: [FormFile]
  ) -> (type: String, body: Data) {
    let boundary = "----ConsoleBrowser7MA4YWxkTrZu0gW"
    var body = Data()
    for field in fields {
      let value = field.value.replacing("\n", with: "\r\n")
      body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(field.name)\"\r\n\r\n\(value)\r\n".utf8)
    }
    for file in files {
      let head = "Content-Disposition: form-data; name=\"\(file.field)\"; filename=\"\(file.name)\"\r\n"
      body += Data("--\(boundary)\r\n\(head)Content-Type: \(file.type)\r\n\r\n".utf8) + file.content + Data("\r\n".utf8)
    }
    body += Data("--\(boundary)--\r\n".utf8)
    return ("multipart/form-data; boundary=\(boundary)", body)
  }
}
