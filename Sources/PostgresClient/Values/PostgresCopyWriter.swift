public import Foundation

/// A builder of rows for COPY in its text format (PostgreSQL 15, COPY, "Text Format").
///
/// Append the values in the order of the columns, nil for NULL, and call `endRow()` after each row.
///
///     func load(_ numbers: [Int], pool: PostgresPool) async throws -> Int {
///       var writer = PostgresCopyWriter()
///       for number in numbers {
///         writer.append(number)
///         writer.append("row \(number)")
///         writer.endRow()
///       }
///       let rows = [writer.take()]
///       return try await pool.withConnection { try await $0.copyIn("COPY numbers FROM STDIN", rows: rows) }
///     }
public struct PostgresCopyWriter: Sendable {
  /// The bytes that were written since the last `take()`.
  public private(set) var bytes: [UInt8] = []
  private var isRowEmpty = true

  /// Creates an empty writer.
  public init() {}

  /// Ends a row.
  public mutating func endRow() {
    bytes.append(UInt8(ascii: "\n"))
    isRowEmpty = true
  }

  /// Returns the bytes written so far and empties the writer.
  public mutating func take() -> [UInt8] {
    let taken = bytes
    bytes = []
    bytes.reserveCapacity(taken.count)
    return taken
  }

  /// Appends a text. The server rejects a row with U+0000 (SQLSTATE 22021).
  public mutating func append(_ value: String?) {
    field(value) { $0.appendEscaped($1.utf8) }
  }

  /// Appends a UUID.
  public mutating func append(_ value: UUID?) {
    field(value) { $0.bytes.append(contentsOf: $1.uuidString.utf8) }
  }

  /// Appends a boolean.
  public mutating func append(_ value: Bool?) {
    field(value) { $0.bytes.append($1 ? UInt8(ascii: "t") : UInt8(ascii: "f")) }
  }

  /// Appends an integer.
  public mutating func append(_ value: Int?) {
    field(value) { $0.bytes.append(contentsOf: String($1).utf8) }
  }

  /// Appends a floating-point number.
  public mutating func append(_ value: Double?) {
    field(value) { writer, value in
      writer.bytes.append(contentsOf: (value.isNaN ? "NaN" : value.isInfinite ? "\(value)inity" : "\(value)").utf8)
    }
  }

  /// Appends a date with microsecond precision, for a column `timestamp with time zone`.
  public mutating func append(_ value: Date?) {
    field(value) { $0.bytes.append(contentsOf: $1.postgresText.utf8) }
  }

  /// Appends bytes, for a column `bytea`.
  public mutating func append(_ value: Data?) {
    field(value) { writer, value in
      let digits = Array("0123456789abcdef".utf8)
      writer.bytes.append(contentsOf: "\\\\x".utf8)
      for byte in value {
        writer.bytes.append(digits[Int(byte >> 4)])
        writer.bytes.append(digits[Int(byte & 15)])
      }
    }
  }

  /// Appends a JSON text.
  public mutating func append(_ value: PostgresJSON?) {
    field(value) { $0.appendEscaped($1.data) }
  }

  /// Appends an array of texts. Each one is quoted (PostgreSQL 15, 8.15.6), then escaped like any text.
  public mutating func append(_ value: [String]?) {
    field(value) { writer, value in
      var text: [UInt8] = [UInt8(ascii: "{")]
      for element in value {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        text.append(UInt8(ascii: "\""))
        for byte in element.utf8 {
          if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
          text.append(byte)
        }
        text.append(UInt8(ascii: "\""))
      }
      text.append(UInt8(ascii: "}"))
      writer.appendEscaped(text)
    }
  }

  private mutating func field<Value>(_ value: Value?, _ append: (inout Self, Value) -> Void) {
    if !isRowEmpty { bytes.append(UInt8(ascii: "\t")) }
    isRowEmpty = false
    if let value { append(&self, value) } else { bytes.append(contentsOf: "\\N".utf8) }
  }

  private mutating func appendEscaped(_ text: some Sequence<UInt8>) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
      case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
      case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
      case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
      default: bytes.append(byte)
      }
    }
  }
}

extension Date {
  /// The date as PostgreSQL reads it in any time zone: the Julian day and the time of day, such as
  /// `J2461043 03:04:05.006000+00` (PostgreSQL 15, 8.5.1).
  fileprivate var postgresText: String {
    let microsecondsADay: Int64 = 86_400_000_000
    var (days, rest) = postgresMicroseconds.quotientAndRemainder(dividingBy: microsecondsADay)
    if rest < 0 {
      rest += microsecondsADay
      days -= 1
    }
    func padded(_ number: Int64, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let seconds = rest / 1_000_000
    let time = "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
    // 2000-01-01 is the Julian day 2,451,545.
    return "J\(days + 2_451_545) \(time).\(padded(rest % 1_000_000, 6))+00"
  }
}
