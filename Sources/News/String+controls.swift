extension String {
  /// Whether the text has a control character that plain texts of news may not contain: any of ASCII besides tab, line feed
  /// and carriage return.
  package var hasControlCharacters: Bool {
    utf8.contains { $0 < 32 && $0 != 9 && $0 != 10 && $0 != 13 || $0 == 127 }
  }
}
