import Foundation
import SystemPackage

/// A file of `NAME=value` lines that systemd's `EnvironmentFile=`, a POSIX shell and this parser read alike.
///
/// The grammar is the common subset of the three. Any other line is a problem, because one of them would ignore it or
/// read another value (systemd.exec(5), "EnvironmentFile="; POSIX.1-2017, Shell Command Language, 2.2 and 2.9.1):
///
/// - empty lines, and comments that begin with `#` and do not end with a backslash;
/// - `NAME=value` without `export` and without blanks around `=`;
/// - a value without quotes, of letters, digits, `_ . / : @ % + , = - ? [ ]` and characters beyond ASCII;
/// - a value in single quotes, in which everything except a single quote stands for itself;
/// - a value in double quotes, with `\"`, `\\`, `\$` and `` \` `` for the characters that a shell would interpret.
///
/// A line that repeats a name is a problem too. All three would take the last value, and an edit of the first line would have no
/// effect.
package struct SettingsFile {
  /// The values by name.
  package private(set) var values: [String: String] = [:]
  /// The malformed lines, and those that repeat a name, as `line 3: reason`.
  package private(set) var problems: [String] = []

  private static let maximumBytes = 1 << 20
  private static let maximumProblems = 32

  /// Reads a file of at most 1 MiB.
  ///
  /// - Throws: `SettingError` if the file cannot be read.
  init(path: String) throws {
    do {
      self.init(try Self.text(of: path, maximumBytes: Self.maximumBytes))
    } catch {
      throw SettingError(name: "--settings", rule: "must name a file of NAME=value lines; \(error)")
    }
  }

  package init(_ text: String) {
    let lines = Array(text.unicodeScalars).split(separator: "\n", omittingEmptySubsequences: false)
    var numbers: [String: Int] = [:]
    for (index, line) in lines.enumerated() {
      do throws(Malformed) {
        guard let (name, value) = try Self.assignment(line) else { continue }
        if let first = numbers.updateValue(index + 1, forKey: name) {
          throw Malformed(reason: "sets \(name), as line \(first) does: remove one of them")
        }
        values[name] = value
      } catch {
        problems.append("line \(index + 1): \(error.reason)")
        if problems.count == Self.maximumProblems { return }
      }
    }
  }

  /// Reads the text of a small file.
  ///
  /// - Throws: `CommandError` with the reason.
  static func text(of path: String, maximumBytes: Int) throws(CommandError) -> String {
    var bytes: [UInt8] = []
    do {
      let descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
      defer { try? descriptor.close() }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while bytes.count <= maximumBytes {
        let count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
        if count == 0 { break }
        bytes += buffer[..<count]
      }
    } catch {
      throw CommandError("cannot read \(path): \(SystemReason(error))")
    }
    guard bytes.count <= maximumBytes else {
      throw CommandError("\(path) has more than \(maximumBytes) bytes")
    }
    guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
      throw CommandError("\(path) is not text in UTF-8")
    }
    return text
  }

  // MARK: Lines

  /// Scalars instead of characters, so that a quote followed by a combining mark is still recognised.
  private typealias Text = ArraySlice<Unicode.Scalar>

  private struct Malformed: Error {
    let reason: String
  }

  /// Parses a line.
  ///
  /// - Returns: nil for an empty line and a comment.
  private static func assignment(_ line: Text) throws(Malformed) -> (name: String, value: String)? {
    if line.contains("\r") { throw Malformed(reason: "has a carriage return; end lines with a newline alone") }
    if line.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F }) {
      throw Malformed(reason: "has a control character")
    }
    let content = line.drop(while: isBlank)
    guard let first = content.first else { return nil }
    if first == "#" {
      if content.last == "\\" { throw Malformed(reason: "a comment must not end with a backslash") }
      return nil
    }
    let name = content.prefix { $0 != "=" }
    let words = name.split(whereSeparator: isBlank).map { string($0) }
    if words.first == "export", words.count > 1 { throw Malformed(reason: "remove export") }
    guard name.count < content.count else { throw Malformed(reason: "is neither NAME=value nor a comment with #") }
    guard isName(name) else {
      throw Malformed(reason: "write a name of letters, digits and _ directly before =")
    }
    return (string(name), try value(of: content.dropFirst(name.count + 1)))
  }

  private static func value(of text: Text) throws(Malformed) -> String {
    switch text.first {
    case "'": return try singleQuoted(text.dropFirst())
    case "\"": return try doubleQuoted(text.dropFirst())
    case nil: return ""
    default: break
    }
    let trailing = text.reversed().prefix(while: isBlank).count
    let value = text.dropLast(trailing)
    guard let first = value.first, !isBlank(first) else { throw Malformed(reason: "write the value directly after =") }
    guard value.allSatisfy(isPlain) else {
      throw Malformed(reason: "put the value into single quotes, and comments on lines of their own")
    }
    return string(value)
  }

  private static func singleQuoted(_ text: Text) throws(Malformed) -> String {
    let value = text.prefix { $0 != "'" }
    guard value.count < text.count else { throw Malformed(reason: "the closing quote is missing") }
    try checkEnd(text.dropFirst(value.count + 1))
    return string(value)
  }

  private static func doubleQuoted(_ text: Text) throws(Malformed) -> String {
    var value: Text = []
    var rest = text
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"":
        try checkEnd(rest)
        return string(value)
      case "$", "`": throw Malformed(reason: "write \\\(scalar) in double quotes, or use single quotes")
      case "\\":
        guard let escaped = rest.popFirst(), ["\"", "\\", "$", "`"].contains(escaped) else {
          throw Malformed(reason: "write \\\\ for a backslash in double quotes")
        }
        value.append(escaped)
      default: value.append(scalar)
      }
    }
    throw Malformed(reason: "the closing quote is missing")
  }

  private static func checkEnd(_ rest: Text) throws(Malformed) {
    guard rest.allSatisfy(isBlank) else { throw Malformed(reason: "nothing may follow the closing quote") }
  }

  private static func string(_ text: Text) -> String { String(String.UnicodeScalarView(text)) }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

  private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "0"..."9", "A"..."Z", "a"..."z": true
    default: false
    }
  }

  private static func isName(_ text: Text) -> Bool {
    guard let first = text.first, !("0"..."9" ~= first) else { return false }
    return text.allSatisfy { isLetterOrDigit($0) || $0 == "_" }
  }

  /// Whether a character stands for itself without quotes.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    !scalar.isASCII || isLetterOrDigit(scalar) || "_./:@%+,=-?[]".unicodeScalars.contains(scalar)
  }
}
