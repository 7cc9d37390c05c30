import Crypto
public import Foundation
import PostgresClient

/// A request that has an effect once, however often its client sends it.
///
///     let request = RepeatableRequest(
///       apiKey: key.id, method: "POST", target: "/v1/editorial/items", name: "8e03978e", bodyDigest: digest)
public struct RepeatableRequest: Sendable, Hashable {
  /// The digest of everything that names the request.
  let id: Data
  /// The SHA-256 digest of the body, 32 bytes. All requests of the same name must have the same body.
  let bodyDigest: Data

  /// - Parameters:
  ///   - apiKey: The id of the API key.
  ///   - target: The path and the query.
  ///   - name: The value of `Idempotency-Key`, which clients choose for each API key, method and target on their own.
  ///   - bodyDigest: The SHA-256 digest of the body, 32 bytes.
  public init(apiKey: String, method: String, target: String, name: String, bodyDigest: Data) {
    // None of the values contains a line break.
    id = Data(SHA256.hash(data: Data([apiKey, method, target, name].joined(separator: "\n").utf8)))
    self.bodyDigest = bodyDigest
  }
}

/// An answer that is stored with its request.
public struct StoredAnswer: Sendable, Equatable {
  /// The type of the body, which determines where it has versions of items.
  public enum Content: String, Sendable {
    /// An `EditorialItem`.
    case item
    /// A `BatchResultList`.
    case batch
    /// Anything without versions.
    case other
  }

  /// The status of the response.
  public var status: Int
  /// The header fields that belong to the answer and not to a single response.
  public var headers: [String: String]
  /// The type of the body.
  public var content: Content
  /// The body. In the transaction of its effect, it has the versions of items from before their publication.
  public var body: Data

  /// Creates an answer.
  public init(status: Int, headers: [String: String], content: Content, body: Data) {
    self.status = status
    self.headers = headers
    self.content = content
    self.body = body
  }
}

/// The request of a write, and the answer to it, which is stored in the transaction of the write.
public struct RepeatableWrite<Result>: Sendable {
  let request: RepeatableRequest
  let answer: @Sendable (Result) throws -> StoredAnswer

  /// - Parameter answer: Returns the answer for the result of the write. It may be called more than once.
  public init(_ request: RepeatableRequest, answer: @escaping @Sendable (Result) throws -> StoredAnswer) {
    self.request = request
    self.answer = answer
  }
}

/// The reason why a write is not made: its request was carried out before.
public struct AnsweredBefore: Error {
  /// The answer to the request.
  public let answer: StoredAnswer
  /// Whether an earlier request was answered. It is false if this request has had the effect itself, which was unknown at
  /// first because the answer to COMMIT was lost.
  public var isRepetition = true
  /// The latest version of the items in the answer; 0 without any.
  let version: Int
}
