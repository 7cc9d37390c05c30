import Foundation
import PostgresClient
import Testing

@Suite("Values")
struct TypeTests {
  /// Sends the values one by one and expects them back, both as a parameter and from a column of the type.
  private func expectRoundTrip<Value: PostgresEncodable & PostgresDecodable & Equatable>(
    _ values: [Value], column: String
  ) async throws {
    try await withPool(size: 1) { pool in
      _ = try await pool.query("CREATE TABLE stored (value \(unsafeSQL: column))")
      for value in values {
        let direct = try await pool.value("SELECT \(value)", as: Value.self)
        #expect(direct == value)
        _ = try await pool.query("INSERT INTO stored VALUES (\(value))")
        let stored = try await pool.value("SELECT value FROM stored", as: Value?.self)
        #expect(stored == value)
        _ = try await pool.query("DELETE FROM stored")
      }
      let null: Value? = nil
      let nothing = try await pool.value("SELECT \(null)", as: Value?.self)
      #expect(nothing == nil)
    }
  }

  @Test("booleans are read as they were sent")
  func booleans() async throws { try await expectRoundTrip([true, false], column: "boolean") }

  @Test("integers up to their limits are read as they were sent")
  func integers() async throws {
    try await expectRoundTrip([0, 1, -1, Int.max, Int.min], column: "bigint")
    try await expectRoundTrip([0, 1, -1, Int64.max, Int64.min], column: "bigint")
    try await expectRoundTrip([0, 1, -1, Int32.max, Int32.min], column: "integer")
  }

  @Test("floating-point numbers keep all bits")
  func numbers() async throws {
    try await expectRoundTrip(
      [0, 0.1, -1.5, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity],
      column: "double precision")
  }

  @Test("texts are read as they were sent")
  func texts() async throws {
    try await expectRoundTrip(
      [
        "", " ", "it's", "\"", "\\", "$1", "%s", "a\tb\nc\r", "Grüße 👩‍👩‍👧‍👦 漢字", "e\u{301}",
        String(repeating: "x", count: 100_000),
      ],
      column: "text")
  }

  @Test("UUIDs and bytes are read as they were sent")
  func identifiersAndBytes() async throws {
    let zero = try #require(UUID(uuidString: "00000000-0000-0000-0000-000000000000"))
    let full = try #require(UUID(uuidString: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"))
    try await expectRoundTrip([UUID(), zero, full], column: "uuid")
    try await expectRoundTrip([Data(), Data([0]), Data(0...255)], column: "bytea")
  }

  @Test("dates in whole milliseconds are read as they were sent, before 1970 too")
  func dates() async throws {
    let milliseconds: [Int64] = [
      0, 1, -1, 999, -999, 1_767_323_045_006, 1_767_323_045_999, -62_135_596_800_000, -1_234_567_890_123,
      946_684_800_000, 946_684_799_999, 253_402_300_799_999,
    ]
    let dates = milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    try await expectRoundTrip(dates, column: "timestamptz")
  }

  @Test("a date is the same on the server, to the microsecond")
  func dateOnServer() async throws {
    try await withPool(size: 1) { pool in
      let date = Date(timeIntervalSince1970: 1_767_323_045.000001)
      let isEqual = try await pool.value("SELECT \(date) = '2026-01-02 03:04:05.000001+00'::timestamptz", as: Bool.self)
      #expect(isEqual)
      let early = try await pool.value("SELECT '1969-12-31 23:59:59.999999+00'::timestamptz", as: Date.self)
      #expect((early.timeIntervalSince1970 * 1_000_000).rounded() == -1)
      // The last microsecond that the server can store; as microseconds since 1970 it overflows an integer.
      let last = try await pool.value("SELECT '294276-12-31 23:59:59.999999+00'::timestamptz", as: Date.self)
      #expect(abs(last.timeIntervalSince1970 - 9_224_318_016_000) < 1)
      let outOfRange = Date(timeIntervalSince1970: 1e30)
      let error = try await failure { try await pool.query("SELECT \(outOfRange)") }
      #expect(error.sqlState == "22008")
    }
  }

  @Test("arrays are read as they were sent, including empty ones and elements with quotes and backslashes")
  func arrays() async throws {
    try await expectRoundTrip(
      [[], [""], ["a", "b"], ["\"", "\\", "\\\"", "{", "}", ",", "NULL", "null", " ", "'", "\n", "ü👍"]],
      column: "text[]")
    try await expectRoundTrip([[], [UUID(), UUID()]], column: "uuid[]")
    try await expectRoundTrip([[], [Int.min, 0, Int.max]], column: "bigint[]")
    let objects = [#"{"a": [1, null]}"#, "[]"].map { PostgresJSON(data: Data($0.utf8)) }
    try await expectRoundTrip([[], objects], column: "jsonb[]")
  }

  @Test("arrays with NULL are read as arrays of optional values, and as no others")
  func arraysWithNull() async throws {
    try await expectRoundTrip([[], [nil], [nil, "", "NULL", nil], ["a"]] as [[String?]], column: "text[]")
    try await expectRoundTrip([[nil, UUID(), nil]] as [[UUID?]], column: "uuid[]")
    try await expectRoundTrip([[1, nil]] as [[Int?]], column: "bigint[]")
    try await withPool(size: 1) { pool in
      let kept = try await pool.value("SELECT array_remove(\(["a", nil, "b"] as [String?]), NULL)", as: [String].self)
      #expect(kept == ["a", "b"])
      let error = try await failure { try await pool.value("SELECT ARRAY[1::bigint, NULL]", as: [Int].self) }
      #expect(error.code == .decoding)
    }
  }

  @Test("JSON is read as the same value")
  func json() async throws {
    try await withPool(size: 1) { pool in
      let json = PostgresJSON(data: Data(#"{"a": [1, "\"é\\", null]}"#.utf8))
      let stored = try await pool.value("SELECT \(json)", as: PostgresJSON.self)
      #expect(String(decoding: stored.data, as: UTF8.self) == #"{"a": [1, "\"é\\", null]}"#)
      let plain = try await pool.value("SELECT '[ 1]'::json", as: PostgresJSON.self)
      #expect(String(decoding: plain.data, as: UTF8.self) == "[ 1]")
      let error = try await failure { try await pool.query("SELECT \(PostgresJSON(data: Data("{".utf8)))") }
      #expect(error.sqlState == "22P02")
    }
  }

  private enum Color: String, PostgresEncodable, PostgresDecodable {
    case red, green
  }

  @Test("enumerations are read from enum columns and reject unknown values")
  func enumerations() async throws {
    try await withPool(size: 1) { pool in
      _ = try await pool.query("CREATE TYPE color AS ENUM ('red', 'green', 'blue')")
      let green = try await pool.value("SELECT \(Color.green)::text::color", as: Color.self)
      #expect(green == .green)
      let error = try await failure { try await pool.value("SELECT 'blue'::color", as: Color.self) }
      #expect(error.code == .decoding)
    }
  }

  @Test("U+0000 in a text is rejected by the server and leaves the connection usable")
  func nulCharacter() async throws {
    try await withPool(size: 1) { pool in
      let error = try await failure { try await pool.query("SELECT \("a\u{0}b")") }
      #expect(error.sqlState == "22021")
      let one = try await pool.value("SELECT 1", as: Int.self)
      #expect(one == 1)
      #expect(pool.statistics.opened == 1)
    }
  }

  @Test("an array of two dimensions is rejected")
  func arraysOfArrays() async throws {
    try await withPool(size: 1) { pool in
      for array in ["ARRAY[[true]]", "ARRAY[[true, false], [false, true]]"] {
        let error = try await failure { try await pool.value("SELECT \(unsafeSQL: array)", as: [Bool].self) }
        #expect(error.code == .decoding)
      }
    }
  }

  @Test("infinite dates are rejected", arguments: ["infinity", "-infinity"])
  func infiniteDates(text: String) async throws {
    try await withPool(size: 1) { pool in
      let error = try await failure { try await pool.value("SELECT \(text)::text::timestamptz", as: Date.self) }
      #expect(error.code == .decoding)
    }
  }

  @Test("the error for a value of another type names the column and both types")
  func decodingErrors() async throws {
    try await withPool(size: 1) { pool in
      let rows = try await pool.query(
        "SELECT 'x' AS word, NULL::int4 AS nothing, 5000000000 AS big, ARRAY['a', NULL] AS list")
      let row = try #require(rows.first)
      let mismatch = try await failure { try row.decode("word", as: Int.self) }
      #expect(mismatch.code == .decoding)
      #expect(mismatch.debugDescription.contains("word"))
      #expect(mismatch.debugDescription.contains("Int"))
      #expect(mismatch.debugDescription.contains("25"))
      #expect(!mismatch.description.contains("word"))
      let error1 = try await failure { try row.decode("nothing", as: Int.self) }
      #expect(error1.debugDescription.contains("nothing"))
      let error2 = try await failure { try row.decode("big", as: Int32.self) }
      #expect(error2.debugDescription.contains("fit"))
      let error3 = try await failure { try row.decode("list", as: [String].self) }
      #expect(error3.debugDescription.contains("list"))
      let error4 = try await failure { try row.decode("absent", as: Int.self) }
      #expect(error4.debugDescription.contains("absent"))
      let error5 = try await failure { try row.decode(4, as: Int.self) }
      #expect(error5.code == .decoding)
      #expect(try row.decode("big", as: Int.self) == 5_000_000_000)
    }
  }

  @Test("columns are found by name in any order")
  func columnOrder() async throws {
    try await withPool(size: 1) { pool in
      let rows = try await pool.query("SELECT n AS a, n * 2 AS b, n * 3 AS c FROM generate_series(1, 3) n")
      for (index, row) in rows.enumerated() {
        #expect(try row.decode("c", as: Int.self) == (index + 1) * 3)
        #expect(try row.decode("a", as: Int.self) == index + 1)
        #expect(try row.decode("b", as: Int.self) == (index + 1) * 2)
        #expect(try row.decode(2, as: Int.self) == (index + 1) * 3)
      }
      #expect(rows.count == 3)
      #expect(rows.affected == 3)
      #expect(rows.columnNames == ["a", "b", "c"])
    }
  }
}
