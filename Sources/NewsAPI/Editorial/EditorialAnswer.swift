import Crypto
package import Foundation
import HTTPTypes
import Hummingbird
import News
import NewsStore

/// The answer to a write as a value, which can be sent and stored.
struct EditorialAnswer: Sendable {
  var status: HTTPResponse.Status
  /// The fields of the answer, without those that outer layers add to each response.
  var headers: HTTPFields = [:]
  var content = StoredAnswer.Content.other
  var body: [UInt8] = []

  static let noContent = EditorialAnswer(status: .noContent)

  /// Makes a JSON answer.
  ///
  /// - Parameter write: Writes the body.
  static func json(
    status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], content: StoredAnswer.Content = .other,
    _ write: (inout JSONWriter) throws -> Void
  ) rethrows -> EditorialAnswer {
    var headers = headers
    headers[.contentType] = "application/json"
    var json = JSONWriter(capacity: 1024)
    try write(&json)
    return EditorialAnswer(status: status, headers: headers, content: content, body: json.bytes)
  }

  /// The response, without the fields that outer layers add.
  var response: Response {
    if body.isEmpty { return Response(status: status, headers: headers) }
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }
}

extension EditorialAnswer {
  /// The form in which the answer is stored.
  var stored: StoredAnswer {
    StoredAnswer(
      status: status.code,
      headers: Dictionary(headers.map { ($0.name.rawName, $0.value) }) { first, _ in first }, content: content,
      body: Data(body))
  }

  init(_ stored: StoredAnswer) {
    self.init(status: .init(code: stored.status), content: stored.content, body: Array(stored.body))
    for (name, value) in stored.headers {
      if let name = HTTPField.Name(name) { headers[name] = value }
    }
  }
}

extension APIContext {
  /// The request, if it has an `Idempotency-Key`. Its body was read.
  var repeatableRequest: RepeatableRequest? {
    record.idempotencyKey.map { key in
      RepeatableRequest(
        apiKey: key.apiKey, method: key.method, target: key.target, name: key.text,
        bodyDigest: record.bodyDigest ?? Data(SHA256.hash(data: Data())))
    }
  }

  /// Names the request in place of an `Idempotency-Key`, which forms do not have. The writes of all requests with the name
  /// have their effect once: the store throws `AnsweredBefore` for a repetition, and `StoreError.requestInProgress` for
  /// one beside the first.
  ///
  /// - Parameters:
  ///   - name: A random name.
  ///   - target: The path of the request.
  package func setRepeatable(named name: UUID, target: String) {
    guard let key = record.key else { return }
    record.setIdempotencyKey(.init(apiKey: key.id, method: "POST", target: target, text: name.uuidString))
  }

  /// The request of a write, if it has an `Idempotency-Key`. A handler passes it to the store, which stores the answer in
  /// the transaction of the write, or throws `AnsweredBefore`.
  ///
  /// - Parameter answer: Returns the answer for the result of the write.
  func once<Result>(_ answer: @escaping @Sendable (Result) throws -> EditorialAnswer) -> RepeatableWrite<Result>? {
    repeatableRequest.map { RepeatableWrite($0) { try answer($0).stored } }
  }
}
