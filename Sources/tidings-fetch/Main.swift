import ArgumentParser
import BackgroundFetch
import Foundation
import NewsClient

/// The beginning and the end of the process: parses, runs, and turns errors into sentences, JSON and exit codes.
@main
enum Main {
  static func main() async {
    Output.prepare()
    var failure: (any JSONReporting.Type)?
    do {
      var command = try TidingsFetch.parseAsRoot()
      if let reporting = command as? any JSONReporting, reporting.json { failure = type(of: reporting) }
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      exit(end(error, failure).rawValue)
    }
  }

  /// Says what went wrong.
  ///
  /// - Parameter command: The command, if it was to print JSON.
  /// - Returns: What the process ends with.
  private static func end(_ error: any Error, _ command: (any JSONReporting.Type)?) -> ExitCode {
    do {
      if let code = error as? ExitCode { return code }
      if let failure = error as? Output.Failure { throw failure }
      let code = TidingsFetch.exitCode(for: error)
      switch code {
      case .success:
        try Output.print(TidingsFetch.fullMessage(for: error))
        return code
      case .validationFailure:
        Output.draw(TidingsFetch.fullMessage(for: error) + "\n")
        if let command { try printJSON(command.failure(TidingsFetch.message(for: error))) }
        return code
      default:
        let message = sentence(error)
        Output.log(message)
        if let command { try printJSON(command.failure(message)) }
        return FetchResult.failed.exitCode
      }
    } catch let failure as Output.Failure where failure.isClosedPipe {
      // The reader has gone, such as `head` after its lines.
      return .success
    } catch let failure as Output.Failure {
      Output.log(failure.message)
      return FetchResult.failed.exitCode
    } catch {
      Output.log("\(error)")
      return FetchResult.failed.exitCode
    }
  }

  private static func sentence(_ error: any Error) -> String {
    switch error {
    case let error as FetchError: error.message
    case let error as FetchLock.Failure: error.description
    case let error as CocoaError: error.localizedDescription
    default: "\(error)"
    }
  }
}

/// A command that prints JSON if it is asked to, failures included.
protocol JSONReporting: SendableMetatype {
  /// Whether JSON was asked for.
  var json: Bool { get }

  /// The line for a run that has failed before it had a result.
  static func failure(_ message: String) -> any Encodable
}

extension JSONReporting {
  static func failure(_ message: String) -> any Encodable { FailureLine(error: message) }
}

/// A failure as it is printed for machines.
private struct FailureLine: Encodable {
  let result = FetchResult.failed
  let error: String
}
