import ArgumentParser
import Foundation

/// Prints generated news for `tidings import`.
@main
struct NewsGenerator: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints made-up news as JSON Lines, oldest first; the same for the same numbers and seed.")

  @Argument(help: "How many items.")
  var count: Int

  @Option(help: "The number of the first item, 0 or more.")
  var first = 0

  @Option(help: "The topic of all of them.")
  var topic: String?

  @Option(help: "Makes other news.")
  var seed: UInt64 = 1

  func validate() throws {
    if count < 0 || first < 0 { throw ValidationError("COUNT and --first must not be negative.") }
  }

  func run() throws {
    let vocabulary = Vocabulary(seed: seed)
    var lines = ""
    for number in first..<first + count {
      var item = GeneratedItem(number: number, topic: topic, seed: seed)
      item.append(to: &lines, vocabulary)
      if lines.utf8.count > 1 << 20 || number == first + count - 1 {
        try FileHandle.standardOutput.write(contentsOf: Data(lines.utf8))
        lines.removeAll(keepingCapacity: true)
      }
    }
  }
}
