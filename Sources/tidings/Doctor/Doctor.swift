import ArgumentParser
import Foundation
import Logging

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Looks whether an installation is in order, and says what to do where it is not.",
    discussion: """
      One line for each check: ok, warning or problem, what was looked at, and what was found. The exit status is 1 if \
      there is a problem. It changes nothing, and may be run beside servers.
      """)

  @Option(help: ArgumentHelp("A file of NAME=value lines with settings.", valueName: "file"))
  var settings: String?

  @Flag(help: "Print an array of objects with check, status and message.")
  var json = false

  func run() async throws {
    let findings = await examine()
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(findings), as: UTF8.self))
    } else {
      for finding in findings { print(finding.line) }
    }
    if findings.contains(where: { $0.status == .problem }) { throw ExitCode.failure }
  }

  private func examine() async -> [Finding] {
    let settings: Settings
    do { settings = try await Settings.load(file: self.settings) } catch { return [.problem("settings", "\(error)")] }
    // What is wrong is told by the findings.
    let logger = Logger(label: "tidings", factory: { _ in SwiftLogNoOpLogHandler() })
    return [.ok("settings", self.settings.map { "from the environment and \($0)" } ?? "from the environment")]
      + (await DatabaseCheckup(settings: settings, logger: logger).findings())
      + MachineCheckup(settings: settings).findings()
  }
}
