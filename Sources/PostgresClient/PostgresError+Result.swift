import CLibPQ

extension PostgresError {
  /// Creates an error from an error result (PostgreSQL 15, 34.3.2, `PQresultErrorField`).
  init(result: OpaquePointer) {
    func field(_ code: Character) -> String? {
      PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
    }
    let sqlState = field("C")
    // When the connection breaks, libpq creates an error result without SQLSTATE.
    let severity = field("V") ?? field("S")
    let isFatal = sqlState == nil || severity == "FATAL" || severity == "PANIC"
    let message = field("M") ?? PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
    self.init(isFatal ? .connectionLost : .server, Self.trimmed(message), sqlState: sqlState)
    self.isFatal = isFatal
    detail = field("D")
    hint = field("H")
    constraint = field("n")
    table = field("t")
    column = field("c")
    routine = field("R")
  }

  /// Creates an error from libpq's last message about a connection.
  init(_ code: Code, connection: OpaquePointer) {
    self.init(code, Self.trimmed(PQerrorMessage(connection).map { String(cString: $0) } ?? ""))
  }

  private static func trimmed(_ message: String) -> String {
    var message = message[...]
    while message.last?.isWhitespace == true { message.removeLast() }
    return String(message)
  }
}
