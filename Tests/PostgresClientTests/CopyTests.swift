import Foundation
import PostgresClient
import TestKit
import TestSupport
import Testing

@Suite("COPY")
struct CopyTests {
  private static let copy: PostgresQuery = "COPY numbers FROM STDIN"

  private func withNumbers<Result: Sendable>(
    _ body: @Sendable (PostgresPool) async throws -> Result
  ) async throws -> Result {
    try await withPool(size: 2) { pool in
      _ = try await pool.query("CREATE TABLE numbers (n int, t text)")
      return try await body(pool)
    }
  }

  private func count(_ pool: PostgresPool) async throws -> Int {
    try await pool.value("SELECT count(*) FROM numbers")
  }

  @Test("a hundred thousand rows are loaded")
  func manyRows() async throws {
    try await withNumbers { pool in
      let copied = try await pool.withConnection { connection in
        let chunks = (0..<100).lazy.map { chunk in
          var writer = PostgresCopyWriter()
          for number in 0..<1_000 {
            writer.append(chunk * 1_000 + number)
            writer.append("row \(number)")
            writer.endRow()
          }
          return writer.take()
        }
        return try await connection.copyIn(Self.copy, rows: chunks)
      }
      #expect(copied == 100_000)
      let sum = try await pool.value("SELECT sum(n)::int8 FROM numbers", as: Int.self)
      #expect(sum == 4_999_950_000)
    }
  }

  @Test("rows can come from an asynchronous sequence, split anywhere, inside a transaction")
  func asynchronousRows() async throws {
    try await withNumbers { pool in
      let copied = try await pool.transaction { transaction in
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        for piece in ["1\ton", "e\n2", "\ttwo\n", "", "3\t\\N\n"] { continuation.yield(Data(piece.utf8)) }
        continuation.finish()
        return try await transaction.copyIn(Self.copy, rows: stream)
      }
      #expect(copied == 3)
      let value2 = try await count(pool)
      #expect(value2 == 3)
    }
  }

  @Test("every value is unchanged by the text format")
  func values() async throws {
    let texts = [
      "", "\\N", "\\", "\\.", "a\tb", "a\nb", "a\r\nb", "\"", "'", "{}", "NULL", "ü👍", "\u{1}\u{8}\u{b}\u{7f}",
    ]
    let date = Date(timeIntervalSince1970: -1.001)
    let identifier = UUID()
    let json = PostgresJSON(data: Data(#"{"a": "\\\"\n\t"}"#.utf8))
    try await withPool(size: 1) { pool in
      _ = try await pool.query(
        "CREATE TABLE all_types (t text, l text[], u uuid, d timestamptz, b bool, i int, x bytea, j jsonb, f float8, n text)"
      )
      var writer = PostgresCopyWriter()
      for text in texts {
        writer.append(text)
        writer.append([text, text] + texts)
        writer.append(identifier)
        writer.append(date)
        writer.append(true)
        writer.append(-5)
        writer.append(Data(0...255))
        writer.append(json)
        writer.append(-Double.infinity)
        writer.append(nil as String?)
        writer.endRow()
      }
      let bytes = writer.take()
      try await pool.withConnection { _ = try await $0.copyIn("COPY all_types FROM STDIN", rows: [bytes]) }
      let rows = try await pool.query("SELECT * FROM all_types")
      #expect(rows.count == texts.count)
      for (row, text) in zip(rows, texts) {
        #expect(try row.decode("t", as: String.self) == text)
        #expect(try row.decode("l", as: [String].self) == [text, text] + texts)
        #expect(try row.decode("u", as: UUID.self) == identifier)
        #expect(try row.decode("d", as: Date.self) == date)
        #expect(try row.decode("b", as: Bool.self))
        #expect(try row.decode("i", as: Int.self) == -5)
        #expect(try row.decode("x", as: Data.self) == Data(0...255))
        #expect(
          try String(decoding: row.decode("j", as: PostgresJSON.self).data, as: UTF8.self) == #"{"a": "\\\"\n\t"}"#)
        #expect(try row.decode("f", as: Double.self) == -.infinity)
        #expect(try row.decode("n", as: String?.self) == nil)
      }
    }
  }

  @Test(
    "a moment is written as the server reads it",
    arguments: [
      0, -0.001, 951_782_400, 951_868_800, 946_684_799.999, 1_709_164_800, -2_203_891_200, -62_135_596_800,
      -62_135_596_801,
      -100_000_000_000, 253_402_300_799.999,
    ])
  func moments(seconds: Double) async throws {
    try await withPool(size: 1) { pool in
      let date = Date(timeIntervalSince1970: seconds)
      var writer = PostgresCopyWriter()
      writer.append(date)
      let text = String(decoding: writer.take(), as: UTF8.self)
      let isEqual = try await pool.value("SELECT \(text)::timestamptz = \(date)", as: Bool.self)
      #expect(isEqual, "\(text)")
    }
  }

  @Test("a bad row undoes the COPY and leaves the connection usable")
  func badRow() async throws {
    try await withNumbers { pool in
      try await pool.withConnection { connection in
        let chunks = (0..<1_000).map { Data("\($0 == 500 ? "x" : "\($0)")\ttext\n".utf8) }
        let error = try await failure { try await connection.copyIn(Self.copy, rows: chunks) }
        #expect(error.sqlState == "22P02")
        let copied = try await connection.copyIn(Self.copy, rows: [Data("1\tone\n".utf8)])
        #expect(copied == 1)
        let timeout = try await connection.query("SELECT current_setting('statement_timeout')")
        #expect(try timeout[0].decode(0, as: String.self) == "61s")
      }
      let value3 = try await count(pool)
      #expect(value3 == 1)
    }
  }

  @Test("an error of the sequence undoes the COPY and is thrown unchanged")
  func sourceError() async throws {
    struct Broken: Error {}
    try await withNumbers { pool in
      try await pool.withConnection { connection in
        let stream = AsyncThrowingStream<Data, any Error> { continuation in
          continuation.yield(Data("1\tone\n".utf8))
          continuation.finish(throwing: Broken())
        }
        await #expect(throws: Broken.self) { try await connection.copyIn(Self.copy, rows: stream) }
        let value1 = try await connection.query("SELECT * FROM numbers")
        #expect(value1.isEmpty)
      }
    }
  }

  @Test("cancelling undoes the COPY and leaves the connection usable")
  func cancellation() async throws {
    try await withNumbers { pool in
      try await pool.withConnection { connection in
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(Data("1\tone\n".utf8))
        let task = Task { try await connection.copyIn(Self.copy, rows: stream) }
        try await eventually("COPY runs") { try await pool.countRunning("COPY numbers") == 1 }
        task.cancel()
        let error = try await failure { try await task.value }
        #expect(error.code == .cancelled)
        continuation.finish()
        let rows = try await connection.query("SELECT * FROM numbers")
        #expect(rows.isEmpty)
      }
      #expect(pool.statistics.opened == 2)
    }
  }

  @Test("a COPY whose data the server does not read because of a lock can be cancelled")
  func cancellationUnderLock() async throws {
    try await withNumbers { pool in
      try await pool.withConnection { holder in
        try await holder.execute(script: "BEGIN; LOCK TABLE numbers")
        let task = Task {
          try await pool.withConnection { connection in
            let chunk = Data(String(repeating: "1\tone\n", count: 10_000).utf8)
            return try await connection.copyIn(Self.copy, rows: (0..<1_000).lazy.map { _ in chunk })
          }
        }
        try await eventually("COPY waits") {
          let rows = try await holder.query(
            "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'numbers'::regclass")
          return rows.count >= 1
        }
        task.cancel()
        let error = try await failure { try await task.value }
        #expect(error.code == .cancelled)
        try await holder.execute(script: "ROLLBACK")
      }
      let value4 = try await count(pool)
      #expect(value4 == 0)
      #expect(pool.statistics.opened == 2)
    }
  }
}
