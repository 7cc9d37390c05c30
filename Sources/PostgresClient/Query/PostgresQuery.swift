/// A statement with its parameters.
///
/// In its string literal, `\(value)` is always a parameter (`$1`, `$2`, …) and never part of the SQL. `\(query:)`
/// inserts another query and renumbers its parameters. Only `\(unsafeSQL:)` inserts text unchanged.
///
///     let topic = "sport"
///     let limit = 20
///     let filter: PostgresQuery = "topic = \(topic)"
///     let query: PostgresQuery = "SELECT id FROM items WHERE \(query: filter) LIMIT \(limit)"
///     print(query.sql)  // SELECT id FROM items WHERE topic = $1 LIMIT $2
public struct PostgresQuery: Sendable {
  /// The statement's text, with `$1` for the first parameter.
  public private(set) var sql: String

  /// The UTF-8 offsets in `sql` at which the placeholders of the parameters start.
  private var placeholders: [Int] = []
  /// The type OIDs of the parameters.
  private(set) var types: [UInt32] = []
  /// The byte counts of the parameters, -1 for NULL.
  private(set) var lengths: [Int32] = []
  /// The binary forms of all parameters, one after the other.
  private(set) var values: [UInt8] = []

  /// Creates a statement from text that must not contain external input.
  public init(unsafeSQL sql: String) {
    self.sql = sql
  }

  private mutating func append(_ value: some PostgresEncodable, type: PostgresType) {
    placeholders.append(sql.utf8.count)
    types.append(type.rawValue)
    sql += "$\(types.count)"
    if value.isPostgresNull {
      lengths.append(-1)
      return
    }
    let start = values.count
    value.encodePostgres(into: &values)
    lengths.append(Int32(values.count - start))
  }

  private mutating func append(_ query: PostgresQuery) {
    let text = query.sql.utf8
    var copied = text.startIndex
    for (index, placeholder) in query.placeholders.enumerated() {
      let start = text.index(text.startIndex, offsetBy: placeholder)
      sql += query.sql[copied..<start]
      placeholders.append(sql.utf8.count)
      types.append(query.types[index])
      sql += "$\(types.count)"
      copied = text.index(start, offsetBy: "$\(index + 1)".utf8.count)
    }
    sql += query.sql[copied...]
    lengths += query.lengths
    values += query.values
  }
}

extension PostgresQuery: ExpressibleByStringInterpolation {
  /// Creates a statement without parameters.
  public init(stringLiteral value: String) {
    self.init(unsafeSQL: value)
  }

  /// Creates a statement from the parts of a literal.
  public init(stringInterpolation: StringInterpolation) {
    self = stringInterpolation.query
  }

  /// A collector of the parts of a literal.
  ///
  ///     let table = "items"
  ///     let query: PostgresQuery = "SELECT count(*) FROM \(unsafeSQL: table) WHERE topic = \("sport")"
  ///     print(query.sql)  // SELECT count(*) FROM items WHERE topic = $1
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    fileprivate var query = PostgresQuery(unsafeSQL: "")

    /// Creates an empty collector with capacity for the parts.
    public init(literalCapacity: Int, interpolationCount: Int) {
      query.sql.reserveCapacity(literalCapacity + interpolationCount * 4)
      query.placeholders.reserveCapacity(interpolationCount)
      query.types.reserveCapacity(interpolationCount)
      query.lengths.reserveCapacity(interpolationCount)
    }

    /// Appends literal text as SQL.
    public mutating func appendLiteral(_ literal: String) {
      query.sql += literal
    }

    /// Appends a value as the next parameter.
    public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value) {
      query.append(value, type: Value.postgresType)
    }

    /// Appends a value, or NULL for nil, as the next parameter.
    public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
      query.append(value, type: Value.postgresType)
    }

    /// Appends text unchanged. It must not contain external input.
    public mutating func appendInterpolation(unsafeSQL sql: String) {
      query.sql += sql
    }

    /// Appends another query and renumbers its parameters.
    public mutating func appendInterpolation(query other: PostgresQuery) {
      query.append(other)
    }
  }
}

extension PostgresQuery {
  /// Calls `body` with the arguments of libpq's send functions: pointers to the values (nil for NULL), lengths and
  /// formats (1 for binary). They are valid during the call only.
  func withParameters<Result>(
    _ body: (
      _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
      _ formats: UnsafePointer<Int32>?
    ) -> Result
  ) -> Result {
    if lengths.isEmpty { return body(nil, nil, nil) }
    return withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: lengths.count) { pointers in
      withUnsafeTemporaryAllocation(of: Int32.self, capacity: lengths.count) { formats in
        formats.initialize(repeating: 1)
        // An empty value that is not NULL needs an address too. If there are no bytes, that of a static zero byte is
        // used.
        return values.withUnsafeBytes { bytes in
          withExtendedLifetime(Self.empty) {
            var next = bytes.baseAddress ?? UnsafeRawPointer(Self.empty.address)
            for (index, length) in lengths.enumerated() {
              let pointer = length < 0 ? nil : next.assumingMemoryBound(to: CChar.self)
              pointers.initializeElement(at: index, to: pointer)
              if length > 0 { next += Int(length) }
            }
            return body(pointers.baseAddress, lengths, formats.baseAddress)
          }
        }
      }
    }
  }

  private static let empty = EmptyValue()

  /// One zero byte that lives as long as the process.
  private struct EmptyValue: @unchecked Sendable {
    // The byte is never written after the initialiser, so sharing it is safe.
    let address: UnsafePointer<CChar>

    init() {
      let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
      byte.initialize(to: 0)
      address = UnsafePointer(byte)
    }
  }
}
