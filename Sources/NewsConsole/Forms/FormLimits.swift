/// The limits of a form without files.
package struct FormLimits: Sendable {
  /// The maximum number of fields.
  package var fields = 1_000
  /// The maximum length of a name, in bytes of UTF-8.
  package var nameBytes = 255
  /// The maximum length of a value, in bytes of UTF-8.
  package var valueBytes = 1 << 20

  /// Creates the default limits.
  package init() {}
}

/// The limits of a form with files.
package struct MultipartLimits: Sendable {
  /// The maximum length of the body, in bytes.
  package var totalBytes: Int
  /// The maximum number of parts, fields and files together.
  package var parts = 64
  /// The maximum length of the header of a part, in bytes, with line ends and the padding of the delimiter before it.
  package var headerBytes = 8 << 10
  /// The maximum length of a name, in bytes of UTF-8.
  package var nameBytes = 255
  /// The maximum length of a field that is not a file, in bytes.
  package var fieldBytes = 1 << 20
  /// The maximum length of all fields that are not files together, in bytes.
  package var totalFieldBytes = 4 << 20
  /// The maximum length of the text before the first delimiter, in bytes. Browsers send none.
  package var preambleBytes = 1 << 10

  /// Creates the default limits for a body of at most this length, in bytes.
  package init(totalBytes: Int) {
    self.totalBytes = totalBytes
  }
}
