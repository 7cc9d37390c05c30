import Foundation
import News
import PostgresClient

/// The statements that read and write the stored answers.
extension RepeatableRequest {
  /// Selects the stored answer, as `check(_:)` reads it.
  var lookup: PostgresQuery {
    """
    SELECT a.body_digest, a.status, a.headers, a.content, a.body, a.published FROM idempotency_answers AS a
    WHERE a.request = \(id) AND a.created_at > clock_timestamp() - interval '24 hours'
    """
  }

  /// Claims the request for a transaction.
  ///
  /// The lock ends with the transaction, even if the process is killed. A request that obtains it sees the answer of all
  /// earlier ones.
  ///
  /// - Throws: `AnsweredBefore`; `StoreError.requestInProgress` if another transaction has the claim;
  ///   `idempotencyKeyReused`; `answerErased`.
  func claim(in transaction: PostgresTransaction) async throws {
    let lock = id.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
    let answers = try await transaction.pipeline(["SELECT pg_try_advisory_xact_lock(\(lock)) AS is_free", lookup])
    try check(answers[1])
    guard try answers[0].first?.decode("is_free") ?? false else { throw StoreError.requestInProgress }
  }

  /// Checks the result of `lookup`.
  ///
  /// - Throws: `AnsweredBefore`, `StoreError.idempotencyKeyReused`, `answerErased`.
  func check(_ rows: PostgresRows) throws {
    guard let row = rows.first else { return }
    guard let digest: Data = try row.decode("body_digest", as: Data?.self) else { throw StoreError.answerErased }
    guard digest == bodyDigest else { throw StoreError.idempotencyKeyReused }
    let versions = try row.json("published", as: [String: [Int]].self)
    let answer = StoredAnswer(
      status: try row.decode("status"), headers: try row.json("headers"), content: try row.value("content"),
      body: try row.decode("body"))
    throw AnsweredBefore(
      answer: try answer.published(with: versions), version: versions.values.compactMap(\.first).max() ?? 0)
  }

  /// Stores an answer. It replaces one that is older than 24 hours.
  func insertion(of answer: StoredAnswer) throws -> PostgresQuery {
    let answer = try answer.bounded()
    return """
      INSERT INTO idempotency_answers AS a (request, body_digest, status, headers, content, body, items)
      VALUES (\(id), \(bodyDigest), \(answer.status), \(PostgresJSON(data: try NewsJSON.encode(answer.headers))),
        \(answer.content.rawValue), \(answer.body), \(try answer.items))
      ON CONFLICT (request) DO UPDATE SET body_digest = excluded.body_digest, created_at = excluded.created_at,
        status = excluded.status, headers = excluded.headers, content = excluded.content, body = excluded.body,
        items = excluded.items, published = excluded.published
      """
  }

  /// Notes the versions of the items in the stored answer, after their publication.
  var publication: PostgresQuery {
    """
    UPDATE idempotency_answers AS a SET published = coalesce((
      SELECT jsonb_object_agg(l.item, jsonb_build_array(l.version, milliseconds(l.updated)))
      FROM unnest(a.items) AS w (id) CROSS JOIN LATERAL (
        SELECT o.* FROM change_log AS o WHERE o.item = w.id AND o.scope = '' OFFSET 0
      ) AS l
    ), '{}')
    WHERE a.request = \(id)
    """
  }
}

extension StoredAnswer {
  /// The maximum size of a stored body in bytes. The answer to a larger batch is stored without its items.
  package static let maximumBytes = 8 << 20

  /// The items whose texts the body contains.
  fileprivate var items: [UUID] {
    get throws {
      switch content {
      case .item: [try NewsJSON.decode(EditorialItem.self, from: body).item.id]
      case .batch: try NewsJSON.decode(BatchResultList.self, from: body).results.compactMap(\.item?.item.id)
      case .other: []
      }
    }
  }

  /// Returns the answer in the form in which it is stored.
  fileprivate func bounded() throws -> StoredAnswer {
    guard content == .batch, body.count > Self.maximumBytes else { return self }
    var list = try NewsJSON.decode(BatchResultList.self, from: body)
    for index in list.results.indices { list.results[index].item = nil }
    var answer = self
    answer.body = try NewsJSON.encode(list)
    return answer
  }

  /// Returns the answer with the versions of its items.
  ///
  /// - Parameter versions: The version and the milliseconds of its time, by the id of the item.
  fileprivate func published(with versions: [String: [Int]]) throws -> StoredAnswer {
    if versions.isEmpty { return self }
    func publish(_ item: inout EditorialItem) {
      guard let version = versions[item.item.id.uuidString.lowercased()], version.count == 2 else { return }
      item.item.version = version[0]
      item.item.updated = Date(timeIntervalSince1970: Double(version[1]) / 1000)
    }
    var answer = self
    switch content {
    case .item:
      var item = try NewsJSON.decode(EditorialItem.self, from: body)
      publish(&item)
      var json = JSONWriter(capacity: body.count + 32)
      json.write(item)
      answer.body = Data(json.bytes)
    case .batch:
      var list = try NewsJSON.decode(BatchResultList.self, from: body)
      for index in list.results.indices {
        if var item = list.results[index].item {
          publish(&item)
          list.results[index].item = item
        }
      }
      answer.body = try NewsJSON.encode(list)
    case .other: break
    }
    return answer
  }
}
