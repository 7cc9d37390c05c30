import Crypto
public import Foundation

/// A file of SQL that takes the schema one step on.
public struct Migration: Sendable, Equatable {
  /// From 1, without gaps.
  public let number: Int
  /// The name of the file, `0001_items_and_log.sql`.
  public let name: String
  /// What the file says: any number of statements, to be run in one transaction.
  public let sql: String
  /// SHA-256 of the file.
  public let checksum: Data

  /// Reads the migrations in a folder: all files `NNNN_name.sql`.
  ///
  /// - Returns: By number, from 1 without gaps.
  /// - Throws: `MigrationError.unreadable`, `misnumbered`.
  public static func all(in folder: URL) throws -> [Migration] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".sql") }.sorted()
    } catch {
      throw MigrationError.unreadable(folder.path)
    }
    guard !names.isEmpty else { throw MigrationError.unreadable(folder.path) }
    return try names.enumerated().map { index, name in
      // Int() takes a sign, too.
      guard name.utf8.prefix(4).allSatisfy({ 48...57 ~= $0 }), Int(name.prefix(4)) == index + 1,
        name.utf8.dropFirst(4).first == UInt8(ascii: "_")
      else {
        throw MigrationError.misnumbered(name, expected: index + 1)
      }
      guard let bytes = try? Data(contentsOf: folder.appending(path: name)),
        let sql = String(validating: bytes, as: UTF8.self)
      else { throw MigrationError.unreadable(name) }
      return Migration(number: index + 1, name: name, sql: sql, checksum: Data(SHA256.hash(data: bytes)))
    }
  }
}

/// Why the schema cannot be taken on.
public enum MigrationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A folder or file cannot be read.
  case unreadable(String)
  /// The files are not numbered 0001, 0002 and so on.
  case misnumbered(String, expected: Int)
  /// The file is not the one that was applied.
  case changed(String)
  /// The database has a migration without a file: it is newer than this build, or a file was removed.
  case missing(String)
  /// Some are still to be applied.
  case pending([String])

  /// A sentence for the operator, which names the file and says what to do.
  public var description: String {
    switch self {
    case .unreadable(let path): "cannot read migrations: \(path)"
    case .misnumbered(let name, let expected):
      "migration \(name) is not numbered \(expected): files are named NNNN_name.sql, from 0001 without gaps"
    case .changed(let name):
      "migration \(name) was changed after it was applied: restore the file, and put changes into a new one"
    case .missing(let name):
      "migration \(name) was applied to this database and has no file here: it is missing, or this build is too old"
    case .pending(let names):
      "the schema is not current; to be applied: \(names.joined(separator: ", ")). Run `tidings migrate`."
    }
  }
}
