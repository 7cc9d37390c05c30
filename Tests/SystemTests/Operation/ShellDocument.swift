import Foundation
import TestSupport

/// A document with shell blocks that a test runs as they stand.
struct ShellDocument {
  /// A fenced block that begins with `sh`.
  struct Block {
    /// The heading above the block.
    var heading: String
    var script: String
    /// The output that the document shows in the next fenced block; nil if none follows under the heading.
    var output: String?
  }

  private(set) var blocks: [Block] = []

  /// Reads a document. Blocks with `no-check` after `sh` are left out.
  init(_ text: String) {
    var (heading, language, lines) = ("", String?.none, [Substring]())
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      switch (language, line.hasPrefix("```")) {
      case (nil, true):
        language = String(line.dropFirst(3))
        lines = []
      case (nil, false): if line.hasPrefix("#") { heading = String(line.drop { $0 == "#" || $0 == " " }) }
      case (_?, false): lines.append(line)
      case (let kind?, true):
        language = nil
        let block = lines.map { $0 + "\n" }.joined()
        if kind == "sh" {
          blocks.append(Block(heading: heading, script: block))
        } else if kind == "text", blocks.last?.heading == heading {
          blocks[blocks.count - 1].output = block
        }
      }
    }
  }

  /// Runs a block in bash. Variables and functions of earlier blocks are kept in a file of the folder.
  ///
  /// - Parameters:
  ///   - folder: The working directory.
  ///   - environment: The environment of bash.
  /// - Throws: `Unexpected` if a command fails.
  /// - Returns: The standard output.
  static func run(_ script: String, in folder: URL, environment: [String: String]) async throws -> String {
    let body = """
      set -euo pipefail
      cd "$1"
      if [ -e .state ]; then source .state; fi
      \(script)
      { declare -p | grep -vE '^declare -[A-Za-z]*r'; declare -f; } >.state
      """
    let result = try await ChildProcess(
      ["-c", body, "bash", folder.path], executable: "/bin/bash", environment: environment
    ).result()
    guard result.status == 0 else {
      throw Unexpected(description: "status \(result.status)\n\(script)\n\(result.output)\n\(result.errors)")
    }
    return result.output
  }
}
