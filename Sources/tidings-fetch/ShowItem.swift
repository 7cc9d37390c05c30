import ArgumentParser
import Foundation
import HTTPTransfer
import News
import NewsClient

struct Show: JSONReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints an item, and marks it as read.",
    discussion: """
      On a terminal, the text is wrapped at its width, and PAGER (less) shows it if it is longer than the screen. Nothing is \
      wrapped or paged in a pipe.
      """)

  @ParentCommand var parent: TidingsFetch

  @Argument(help: ItemID.help)
  var id: ItemID

  @Flag(inversion: .prefixedNo, help: "Whether the item is marked as read.")
  var mark = true

  @Flag(help: "Prints the item as a line of JSON, as the server sent it.")
  var json = false

  func run() async throws {
    let client = try parent.client()
    let id = try id.resolve(client)
    guard let item = try client.item(id) else { throw Refusal("the item has just been removed") }
    if mark { parent.mark(id, client) }
    if json { return try printJSON(item) }
    let terminal = Terminal.output
    let lines = ItemText(item: item, store: client.configuration.folder).lines(columns: terminal?.columns)
    if let terminal, lines.count >= terminal.rows, Pager.show(lines) { return }
    for line in lines { try Output.print(line) }
  }
}

struct OpenInBrowser: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Opens the page of an item in the browser, and marks it as read.",
    discussion: "BROWSER names the program, or several separated by colons; without it, xdg-open chooses one.")

  @ParentCommand var parent: TidingsFetch

  @Argument(help: ItemID.help)
  var id: ItemID

  func run() async throws {
    let client = try parent.client()
    let id = try id.resolve(client)
    guard let address = try client.item(id)?.url else { throw Refusal("the item has no page of its own") }
    guard let link = HTTPLink(argument: address) else {
      throw Refusal("the address of the item is not http or https: \(address.terminalSafe)")
    }
    try Browser.open(link.url)
    parent.mark(id, client)
  }
}

extension TidingsFetch {
  /// Marks an item as read. A failure is logged, because the item is shown even if the store cannot be written.
  func mark(_ id: UUID, _ client: NewsFetcher) {
    do { try client.setRead([id]) } catch { Output.log("cannot mark the item as read: \(error)") }
  }
}

/// The printed form of an item with its text.
struct ItemText {
  /// The maximum width of the text. Longer lines are hard to read.
  private static let maximumColumns = 100

  let item: NewsItem
  /// The folder of the store, which has the downloaded files.
  let store: URL

  /// Returns the lines.
  ///
  /// - Parameter columns: The columns of the terminal; nil to break no line.
  func lines(columns: Int?) -> [String] {
    let width = columns.map { min($0, Self.maximumColumns) }
    func wrapped(_ text: String) -> [String] { text.wrapped(columns: width) }
    var about = [localTime(item.date)]
    if item.breaking { about.append("breaking") }
    if !item.topics.isEmpty { about.append(item.topics.joined(separator: ", ")) }
    if let author = item.author { about.append("by \(author)") }
    var lines =
      (item.title.map { wrapped($0.terminalSafe) } ?? []) + wrapped(about.joined(separator: "  ").terminalSafe)
    if let url = item.url { lines += wrapped(url.terminalSafe) }
    if let summary = item.summary, summary != item.text { lines += [""] + wrapped(summary) }
    lines += [""] + wrapped(item.text)
    if !item.attachments.isEmpty { lines.append("") }
    for attachment in item.attachments {
      let details = [attachment.type, attachment.bytes.map { ByteAmount.text(Int64($0)) }].compactMap { $0 }
      lines += wrapped("\(attachment.url) (\(details.joined(separator: ", ")))".terminalSafe)
      if let alt = attachment.alt { lines += wrapped("  \(alt.terminalSafe)") }
      if let file = AttachmentDownloads.file(of: attachment, store: store) {
        lines.append("  \(file.path(percentEncoded: false).terminalSafe)")
      }
    }
    return lines + ["", "id \(item.id.uuidString.lowercased())"]
  }
}
