import ArgumentParser
import Foundation
import Logging

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks an installation, and says how to fix problems.",
    discussion: """
      Prints one line for each check: ok, warning or problem, the subject, and the finding. The exit status is 1 if there \
      is a problem. The command changes nothing and can run beside servers.

      As root, name the server's user, so that the rights of that user are checked:

        tidings doctor --settings /etc/tidings/environment --user tidings
      """)

  @OptionGroup var common: CommonOptions

  @Flag(help: "Print a JSON array of objects with check, status and message.")
  var json = false

  func run() async throws {
    let findings = await examine()
    if json {
      try await report(try StandardStreams.json(findings))
    } else {
      try await report(findings.map(\.line).joined(separator: "\n"))
    }
    if findings.contains(where: { $0.status == .problem }) { throw FailureCode.failed }
  }

  private func report(_ text: String) async throws {
    try await reporting { try StandardStreams.printResult(text) }
  }

  private func examine() async -> [Finding] {
    let settings: Settings
    do {
      settings = try common.loadSettings()
    } catch {
      return Failure(error).sentences.map { .problem("settings", $0) }
    }
    // The findings report the errors.
    let logger = Logger(label: "tidings", factory: { _ in SwiftLogNoOpLogHandler() })
    let source = common.settings.map { "from the environment and \($0)" } ?? "from the environment"
    let unknown = settings.unknownNames.map {
      Finding.warning("settings", "\($0.description). It is ignored.")
    }
    return (unknown.isEmpty ? [.ok("settings", source)] : unknown)
      + (await DatabaseChecks(settings: settings, logger: logger).findings())
      + (await PushChecks(settings: settings, logger: logger).findings())
      + [await FeedChecks(settings: settings, logger: logger).finding()].compactMap(\.self)
      + MachineChecks(settings: settings).findings()
      + [await MediaChecks(settings: settings, logger: logger).finding()]
  }
}
