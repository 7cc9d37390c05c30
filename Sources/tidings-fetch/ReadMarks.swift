import ArgumentParser
import Foundation
import NewsClient

/// The id of a stored item, in full or abbreviated.
struct ItemID: ExpressibleByArgument {
  /// The minimum number of digits.
  private static let minimumDigits = 4

  /// The hexadecimal digits, in lower case.
  let digits: String

  init?(argument: String) {
    digits = argument.lowercased().filter { $0 != "-" }
    guard Self.minimumDigits...32 ~= digits.count, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      return nil
    }
  }

  static let help: ArgumentHelp = "The id, or at least four of its first or last digits, as list prints them."

  /// Returns the stored item with the id.
  ///
  /// - Throws: ``Refusal`` if there is none, or more than one.
  func resolve(_ client: NewsFetcher) throws -> UUID {
    let ids = try client.ids(abbreviation: digits)
    if ids.count == 1 { return ids[0] }
    if ids.isEmpty {
      throw Refusal("no stored item has the id '\(digits)'; tidings-fetch list prints the ids")
    }
    let names = ids.prefix(3).map { $0.uuidString.lowercased() }.joined(separator: ", ")
    let more = ids.count > 3 ? " and \(ids.count - 3) more" : ""
    throw Refusal("'\(digits)' is ambiguous: it may be \(names)\(more)")
  }
}

struct Read: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Marks items as read.",
    discussion: "An item that was read is not counted by the badge, and raises no notification.")

  @ParentCommand var parent: TidingsFetch

  @Argument(help: ItemID.help)
  var ids: [ItemID] = []

  @Flag(help: "Marks all stored items.")
  var all = false

  func validate() throws {
    if all == !ids.isEmpty { throw ValidationError("Name the items to mark, or use --all") }
  }

  func run() async throws {
    let client = try parent.client()
    if all { try client.setAllRead() } else { try client.setRead(ids.map { try $0.resolve(client) }) }
  }
}

struct Unread: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Marks items as unread.",
    discussion: "The badge counts an item again if it has arrived since the news were last opened.")

  @ParentCommand var parent: TidingsFetch

  @Argument(help: ItemID.help)
  var ids: [ItemID]

  func run() async throws {
    let client = try parent.client()
    try client.setRead(ids.map { try $0.resolve(client) }, false)
  }
}
