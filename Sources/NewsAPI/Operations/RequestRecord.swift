import Foundation
import Logging
import News
package import NewsStore
import Synchronization

/// The facts about a request that handlers establish and the log lines of outer layers contain.
///
/// A context is a value: each layer works on its own copy, and a field that an inner layer sets stays invisible to the
/// layers around it. All copies of a context share one record.
package final class RequestRecord: Sendable {
  private struct Facts {
    var key: APIKey?
    var subject: (name: String, value: String)?
    var refusal: String?
    var problem: String?
    var idempotencyKey: NamedRequest?
    var bodyDigest: Data?
    var bodyBytes: Int?
    var isReplayed = false
    var isUpload = false
  }

  /// A request with an `Idempotency-Key`.
  struct NamedRequest: Sendable {
    /// The id of the API key.
    let apiKey: String
    let method: String
    /// The path and the query.
    let target: String
    /// The value of `Idempotency-Key`.
    let text: String
  }

  private let facts = Mutex(Facts())

  /// The key that the request presented; nil without a key of this installation.
  var key: APIKey? { facts.withLock { $0.key } }

  /// The reason why the key was refused; nil for an accepted one.
  var refusal: String? { facts.withLock { $0.refusal } }

  /// The type of the problem in the response, such as `/problems/unavailable`; nil for another response.
  var problem: String? { facts.withLock { $0.problem } }

  /// The request, if it has an `Idempotency-Key`.
  var idempotencyKey: NamedRequest? { facts.withLock { $0.idempotencyKey } }

  /// The SHA-256 digest of the body, 32 bytes; nil if the body was not read.
  var bodyDigest: Data? { facts.withLock { $0.bodyDigest } }

  /// The size of the body that was read, in bytes; nil if none was read as a whole.
  var bodyBytes: Int? { facts.withLock { $0.bodyBytes } }

  /// Whether the request sends a file, so that the client determines its duration.
  var isUpload: Bool { facts.withLock { $0.isUpload } }

  /// Notes that the request may send a file.
  package func setUpload() { facts.withLock { $0.isUpload = true } }

  func setProblem(_ type: String) { facts.withLock { $0.problem = type } }

  func setIdempotencyKey(_ key: NamedRequest) { facts.withLock { $0.idempotencyKey = key } }

  func setBodyDigest(_ digest: Data) { facts.withLock { $0.bodyDigest = digest } }

  func setBodyBytes(_ bytes: Int) { facts.withLock { $0.bodyBytes = bytes } }

  /// Notes that the stored answer to an earlier request is sent.
  ///
  /// - Parameter location: The address of the resource that the earlier request has created; nil if there is none.
  func setReplayed(_ location: String?) {
    facts.withLock { facts in
      facts.isReplayed = true
      if let subject = facts.subject, let id = location?.split(separator: "/").last {
        facts.subject = (subject.name, String(id))
      }
    }
  }

  package func setKey(_ key: APIKey) { facts.withLock { $0.key = key } }

  package func setRefusal(_ refusal: String) { facts.withLock { $0.refusal = refusal } }

  /// Sets the resource that the request reads or writes.
  ///
  /// - Parameters:
  ///   - name: `item`, `media`, `subscription` or `topic`.
  ///   - value: The resource's id or slug.
  package func setSubject(_ name: String, _ value: String) { facts.withLock { $0.subject = (name, value) } }

  /// The facts as metadata of a log line. The key itself is not among them.
  var metadata: Logger.Metadata {
    facts.withLock { facts in
      var metadata: Logger.Metadata = [:]
      if let key = facts.key {
        metadata["key"] = "\(key.id)"
        metadata["key_name"] = "\(key.name.terminalSafe)"
        // The reader's subject is not logged beside the reader's address.
        if let subject = facts.subject { metadata[subject.name] = "\(subject.value)" }
      }
      if facts.isReplayed { metadata["replayed"] = "true" }
      if let refusal = facts.refusal { metadata["reason"] = "\(refusal)" }
      return metadata
    }
  }
}
