import ArgumentParser
import BackgroundFetch
import Foundation
import HTTPTransfer
import NewsClient

/// The entry point of the process: parses the arguments, runs the command, and turns errors into sentences, JSON and
/// exit statuses.
@main
enum Main {
  static func main() async {
    Output.prepare()
    var failure: (any JSONReportingCommand.Type)?
    var isParsed = false
    do {
      var command = try TidingsFetch.parseAsRoot()
      isParsed = true
      if var command = command as? any JSONReportingCommand {
        if command.json { failure = type(of: command) }
        try await command.run()
      } else if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      exit(end(error, failure, isParsed: isParsed).rawValue)
    }
  }

  /// Reports an error.
  ///
  /// - Parameters:
  ///   - command: The command, if it has to print JSON.
  ///   - isParsed: Whether the command was running. The usage of the command is then not known here.
  /// - Returns: The exit status of the process.
  private static func end(
    _ error: any Error, _ command: (any JSONReportingCommand.Type)?, isParsed: Bool
  ) -> ExitCode {
    do {
      if let code = error as? ExitCode { return code }
      if let failure = error as? Output.Failure { throw failure }
      let code = TidingsFetch.exitCode(for: error)
      switch code {
      case .success:
        try Output.print(TidingsFetch.fullMessage(for: error))
        return code
      case .validationFailure:
        let message = TidingsFetch.message(for: error)
        Output.draw((isParsed ? "Error: \(message)" : TidingsFetch.fullMessage(for: error)) + "\n")
        if let command { try printJSON(command.failure(message)) }
        return code
      default:
        let message = sentence(error)
        Output.log(message)
        if let command { try printJSON(command.failure(message)) }
        return FetchResult.failed.exitCode
      }
    } catch let failure as Output.Failure where failure.isClosedPipe {
      // The reader has closed the pipe, such as `head` after its lines.
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
    case let error as CocoaError: (error.filePath.map { "\($0): " } ?? "") + StorageFailure.reason(error)
    case let error as POSIXError: StorageFailure.reason(error)
    default: "\(error)"
    }
  }
}

/// A request of the user that cannot be fulfilled, although its arguments are valid.
struct Refusal: Error, CustomStringConvertible {
  /// A sentence without a full stop.
  let description: String

  init(_ description: String) { self.description = description }
}

/// A command that can print JSON, failures included.
protocol JSONReportingCommand: AsyncParsableCommand, SendableMetatype {
  /// Whether JSON was requested.
  var json: Bool { get }

  /// Returns the line for a run that has failed before it had a result.
  static func failure(_ message: String) -> any Encodable
}

extension JSONReportingCommand {
  static func failure(_ message: String) -> any Encodable { FailureLine(error: message) }
}

/// The printed form of a failure.
private struct FailureLine: Encodable {
  let result = FetchResult.failed
  let error: String
}
