import Foundation
import News
import NewsStore
import OutgoingHTTP

/// The address of a feed, apart from the user and the password that it may have.
struct SubscriptionAddress {
  let url: String
  let user: String?
  let password: String?

  init(_ text: String) {
    let parts = OutgoingURL.separated(text)
    (url, user, password) = (parts?.text ?? text, parts?.user, parts?.password)
  }

  /// Checks the user and the password by the rules of the API.
  ///
  /// - Throws: `StoreError.invalidFields`.
  func checkCredentials() throws {
    let errors = SubscriptionContent.brokenRules(user: user, password: password)
      .map { FieldError(field: $0.field, breaks: $0.rule) }
    if !errors.isEmpty { throw StoreError.invalidFields(errors) }
  }

  /// Reads a password from a file, or from standard input for `-`. It does not occur in the list of processes.
  static func password(inFile path: String) throws -> String {
    let maximum = SubscriptionContent.maximumPasswordBytes
    let data: Data
    do {
      let file = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
      data = try file.read(upToCount: maximum + 2) ?? Data()
    } catch {
      throw CommandError("\(path) cannot be read: \(SystemReason(error)).")
    }
    let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard lines.count == 1, lines[0].utf8.count <= maximum else {
      throw CommandError(
        "\(path) must have the password on a single line of at most \(maximum) bytes.")
    }
    return String(lines[0])
  }
}
