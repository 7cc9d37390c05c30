extension PostgresError {
  /// Whether the server could not write a file because its file system is read-only.
  ///
  /// The SQLSTATE of this error is that of missing privileges (PostgreSQL 15, `errcode_for_file_access`). The message has
  /// the system's text in the server's language, so the names of the functions that write files count as well.
  package var isAboutReadOnlyFile: Bool {
    guard sqlState == "42501" else { return false }
    return message.contains("Read-only file system")
      || Self.fileRoutines.contains { routine?.hasPrefix($0) ?? false }
  }

  /// The beginnings of the names of functions that open and write files for statements (`md.c`, `xlog.c`, `slru.c`,
  /// `fd.c`, `buffile.c`).
  private static let fileRoutines = ["md", "_md", "XLog", "Slru", "OpenTemporaryFile", "BufFile"]
}
