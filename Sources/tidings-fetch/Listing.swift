import ArgumentParser
import Foundation
import NewsClient

struct List: JSONReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the stored items, newest first.",
    discussion: """
      Each line has the last digits of the item's id, N for an unread item, ! for a breaking one, the date, the title and the \
      topics. On a terminal, lines are shortened to its width.
      """)

  @ParentCommand var parent: TidingsFetch

  @OptionGroup var options: ListOptions
  var json: Bool { options.json }

  func run() async throws { try options.print(parent.client()) }
}

struct Search: JSONReportingCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the stored items with all given words, newest first.",
    discussion: """
      Titles, summaries, texts and authors are searched for words with the given beginnings. Case and diacritics do not \
      matter. No request is sent.
      """)

  @ParentCommand var parent: TidingsFetch

  @Argument(help: "The words, or their beginnings.")
  var words: [String]

  @OptionGroup var options: ListOptions
  var json: Bool { options.json }

  func validate() throws {
    guard words.joined().contains(where: { $0.isLetter || $0.isNumber }) else {
      throw ValidationError("The words to search for have no letter and no digit")
    }
  }

  func run() async throws { try options.print(parent.client(), words: words.joined(separator: " ")) }
}
