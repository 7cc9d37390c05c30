package import Foundation
import HTTPConditions
import HTTPEdge
import NewsAPI
import Yams

/// The contract in `openapi.yaml`, against which every response is checked.
package struct Contract: Sendable {
  /// A method and a path with its parameters in braces.
  package struct Operation: Hashable, Sendable, Comparable, CustomStringConvertible {
    package var method: String
    package var path: String

    package init(method: String, path: String) {
      self.method = method
      self.path = path
    }

    package var description: String { "\(method) \(path)" }

    package static func < (one: Operation, other: Operation) -> Bool { one.description < other.description }
  }

  /// The reason why a response violates the contract.
  package struct Violation: Error, CustomStringConvertible {
    package let description: String
  }

  /// The contract at the root of the project.
  package static let shared = Result {
    try Contract(yaml: String(contentsOf: Project.root.appending(path: "openapi.yaml"), encoding: .utf8))
  }

  let document: JSONValue

  package init(yaml: String) throws {
    document = try JSONValue(yaml: try Yams.load(yaml: yaml) as Any)
  }

  private static let methods: Set<String> = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

  /// All declared operations.
  package var operations: Set<Operation> {
    var operations: Set<Operation> = []
    for (path, item) in document["paths"]?.members ?? [:] {
      for method in item.members.keys where Self.methods.contains(method) {
        operations.insert(Operation(method: method.uppercased(), path: path))
      }
    }
    return operations
  }

  /// Checks a response against the contract: its status, header fields and body must be declared for the operation.
  ///
  /// - Parameters:
  ///   - target: The path and query. An undeclared path permits 404 only, an undeclared method 405 only.
  ///   - body: The body after decoding of any content coding.
  package func check(
    method: String, target: String, status: Int, headers: [(name: String, value: String)], body: Data
  ) throws {
    let place = "\(method) \(target) → \(status)"
    let path = String(target.prefix { $0 != "?" })
    guard let item = pathItem(of: path) else {
      return try checkProblem(status == 404, place, headers, body, isHead: method == "HEAD")
    }
    guard let operation = item[method.lowercased()] else {
      return try checkProblem(status == 405, place, headers, body, isHead: method == "HEAD")
    }
    guard let response = try operation["responses"]?[String(status)].map(resolved) else {
      throw Violation(description: "\(place): the status is not declared")
    }
    try checkHeaders(response, place, headers)
    try checkLastModified(
      place, headers, isFile: path.hasPrefix("/v1/media/") || path.hasPrefix("/v1/editorial/media/"))
    try checkBody(response, place, headers, body, hasNone: method == "HEAD")
  }

  /// Checks a response to a random request: its status must be declared somewhere, and an error must be a problem or a
  /// page.
  package func check(any answer: TestResponse) throws {
    let place = "random request → \(answer.status)"
    let declared = (document["paths"]?.members ?? [:]).values.flatMap { item in
      item.members.values.flatMap { $0["responses"]?.members.keys ?? [:].keys }
    }
    guard ["100", "405", "501", "505"].contains("\(answer.status)") || declared.contains("\(answer.status)") else {
      throw Violation(description: "\(place): the status is not declared")
    }
    if answer["Content-Type"] == "text/html; charset=utf-8" { return }
    if answer.status >= 400 { try checkProblem(true, place, answer.headers, answer.body, isHead: answer.body.isEmpty) }
  }

  /// Checks the refusal of a message that was rejected before its operation was known, against the declaration for its
  /// status.
  package func check(refusal answer: TestResponse) throws {
    let names = [
      400: "BadRequest", 408: "RequestTimeout", 417: "ExpectationFailed", 431: "HeadersTooLarge", 501: "NotImplemented",
      505: "VersionNotSupported",
    ]
    let place = "refusal → \(answer.status)"
    guard let response = names[answer.status].flatMap({ document["components"]?["responses"]?[$0] }) else {
      throw Violation(description: "\(place): the status is not declared")
    }
    try checkHeaders(response, place, answer.headers)
    try checkBody(response, place, answer.headers, answer.body, hasNone: false)
  }

  private func checkProblem(
    _ isExpected: Bool, _ place: String, _ headers: [(name: String, value: String)], _ body: Data, isHead: Bool
  ) throws {
    guard isExpected else { throw Violation(description: "\(place): the operation is not declared") }
    guard headers.contains(where: { $0.name.lowercased() == "content-type" && $0.value == "application/problem+json" })
    else { throw Violation(description: "\(place): the answer is no problem+json") }
    if isHead { return }
    let schema = JSONValue.object(["$ref": .string("#/components/schemas/Problem")])
    try SchemaValidator(document: document).validate(try JSONValue.parse(body), schema, at: place)
  }

  private func pathItem(of path: String) -> JSONValue? {
    let paths = document["paths"]?.members ?? [:]
    if let item = paths[path] { return item }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return paths.first { template, _ in
      let pattern = template.split(separator: "/", omittingEmptySubsequences: false)
      return pattern.count == parts.count
        && zip(pattern, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") && !$1.isEmpty }
    }?.value
  }

  private func checkHeaders(
    _ response: JSONValue, _ place: String, _ headers: [(name: String, value: String)]
  ) throws {
    let declared = try (response["headers"]?.members ?? [:]).mapValues(resolved)
    let validator = SchemaValidator(document: document)
    for (name, header) in declared {
      let values = headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
      guard let value = values.first else {
        if header["required"] == .bool(true) { throw Violation(description: "\(place): the field \(name) is missing") }
        continue
      }
      guard values.count == 1 else { throw Violation(description: "\(place): the field \(name) is repeated") }
      if let schema = header["schema"] {
        try validator.validate(fieldValue: value, schema, at: "\(place), \(name)")
      }
    }
    let known = Set(declared.keys.map { $0.lowercased() }).union(Self.ordinaryFields)
    for (name, _) in headers where !known.contains(name.lowercased()) {
      throw Violation(description: "\(place): the field \(name) is not declared")
    }
  }

  /// Checks that the second of `Last-Modified` has passed, because other content may still change within it; a file
  /// never changes. The current time replaces `Date`, which the framework updates once a second, and later on a busy
  /// machine.
  private func checkLastModified(
    _ place: String, _ headers: [(name: String, value: String)], isFile: Bool
  ) throws {
    guard let value = headers.first(where: { $0.name.lowercased() == "last-modified" })?.value else { return }
    let now = Date()
    guard let date = HTTPDate.parse(value, now: now), date + (isFile ? 0 : 1) <= now else {
      throw Violation(description: "\(place): Last-Modified is \(value), whose second is not over at \(now)")
    }
  }

  /// Header fields that HTTP itself defines and that no API declares.
  private static let ordinaryFields: Set<String> = [
    "content-length", "content-type", "date", "connection", "transfer-encoding", "keep-alive",
  ]

  private func checkBody(
    _ response: JSONValue, _ place: String, _ headers: [(name: String, value: String)], _ body: Data, hasNone: Bool
  ) throws {
    let content = response["content"]?.members ?? [:]
    guard !content.isEmpty, !hasNone else {
      if !body.isEmpty { throw Violation(description: "\(place): a body that is not declared") }
      return
    }
    let type = headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
    // A declaration that only serves generators does not permit the server to send the type.
    guard let media = content[type], media["x-only-for-generators"] != .bool(true) else {
      throw Violation(description: "\(place): the content type \(type) is not declared")
    }
    guard type.hasSuffix("json"), let schema = media["schema"] else { return }
    try SchemaValidator(document: document).validate(try JSONValue.parse(body), schema, at: place)
  }

  /// Whether an operation has a header field as a parameter.
  package func allows(requestField name: String, of operation: Operation) throws -> Bool {
    guard
      case .array(let parameters)? = document["paths"]?[operation.path]?[operation.method.lowercased()]?["parameters"]
    else { return false }
    return try parameters.map(resolved).contains { $0["in"] == .string("header") && $0["name"] == .string(name) }
  }

  /// Whether all successful responses of an operation may have a header field.
  package func allows(responseField name: String, of operation: Operation) throws -> Bool {
    let responses = document["paths"]?[operation.path]?[operation.method.lowercased()]?["responses"]?.members ?? [:]
    return try responses.filter { $0.key.hasPrefix("2") }.values.map(resolved).allSatisfy {
      $0["headers"]?[name] != nil
    }
  }

  private func resolved(_ node: JSONValue) throws -> JSONValue {
    try SchemaValidator(document: document).resolved(node)
  }
}

/// The location of the project, relative to its tests.
package enum Project {
  package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
}
