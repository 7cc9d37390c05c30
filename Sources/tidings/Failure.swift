import ArgumentParser
import Foundation
import MediaFiles
import News
import NewsDelivery
import NewsStore
import PostgresClient
import SystemPackage

/// The exit statuses of the command, as listed in docs/commands.md. 64, 69 and 78 are those of `sysexits.h`.
enum FailureCode {
  /// The command failed in whole or in part.
  static let failed = ExitCode(1)
  /// The database cannot be reached. A retry may succeed.
  static let unavailable = ExitCode(69)
  /// A setting is invalid. A retry does not help.
  static let invalidSetting = ExitCode(78)
  /// The reader of standard output has gone, as in `tidings export | head`. This is the status of a process that
  /// SIGPIPE ended.
  static let outputClosed = ExitCode(128 + SIGPIPE)
}

/// A sentence that ends a command.
struct CommandError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// The message and the exit status of an error, for the user.
struct Failure {
  /// The sentences, one for each line.
  let sentences: [String]
  let code: ExitCode

  /// All sentences on one line.
  var message: String { sentences.joined(separator: " ") }

  /// Prints each sentence to standard error.
  func printDiagnostics() {
    for sentence in sentences { StandardStreams.printDiagnostic("tidings: \(sentence.terminalSafe)") }
  }

  init(_ error: any Error) {
    switch error {
    case let error as ExitCode: (sentences, code) = ([], error)
    case let error as InvalidSettings: (sentences, code) = (error.problems, FailureCode.invalidSetting)
    case is SettingError, is DeliverySettingError: (sentences, code) = (["\(error)"], FailureCode.invalidSetting)
    case let error as PostgresError:
      sentences = [
        error.userMessage(
          setting: SettingTable.shared.databaseURL.name,
          preparation: "\(SettingTable.shared.preparesStatements.name)=false")
      ]
      code = error.isUnavailability ? FailureCode.unavailable : FailureCode.failed
    case StoreError.unavailable:
      sentences = ["the database does not respond. Is it running, and does it have free connections? (DATABASE_URL)"]
      code = FailureCode.unavailable
    case StoreError.writesRefused(let obstacle):
      (sentences, code) = ([obstacle.sentence], FailureCode.unavailable)
    case StoreError.unsafeDurability(let settings):
      sentences = [
        """
        the database has \(settings.joined(separator: ", ")), so a crash can lose acknowledged writes. Set it to on in \
        postgresql.conf or with ALTER SYSTEM, and reload the configuration. (For tests only, \
        TIDINGS_ALLOW_UNSAFE_DURABILITY=true accepts such a database.)
        """
      ]
      code = FailureCode.failed
    case StoreError.outcomeUnknown:
      sentences = [
        """
        the connection to the database was lost during COMMIT, so the outcome is unknown. Check whether the change was \
        made before you repeat the command.
        """
      ]
      code = FailureCode.unavailable
    case StoreError.statementCancelled:
      sentences = [
        """
        the database cancelled a statement, because it exceeded statement_timeout or an administrator cancelled it. Try \
        again when the database is less busy.
        """
      ]
      code = FailureCode.failed
    case MediaError.full:
      (sentences, code) = (
        ["the disk of the folder for files is full. Free some space. (TIDINGS_MEDIA_DIRECTORY)"], FailureCode.failed
      )
    case MediaError.failed(let call, let number):
      let reason = SystemReason(code: number)
      (sentences, code) = (
        ["\(call) failed in the folder for files: \(reason). Check the folder and its disk. (TIDINGS_MEDIA_DIRECTORY)"],
        FailureCode.failed
      )
    case let error as Errno: (sentences, code) = (["\(SystemReason(error))"], FailureCode.failed)
    case let error as any Error & CustomStringConvertible: (sentences, code) = ([error.description], FailureCode.failed)
    default: (sentences, code) = (["\(SystemReason(error))"], FailureCode.failed)
    }
  }
}

extension WriteObstacle {
  /// A sentence for the operator.
  fileprivate var sentence: String {
    switch self {
    case .diskFull: "the disk of the database is full. Make room on it."
    case .diskFailed: "the disk of the database fails. The log of PostgreSQL has the reason."
    case .readOnly:
      "the database is read-only. Is it a standby, is default_transaction_read_only on, or is its disk read-only? "
        + "(DATABASE_URL)"
    }
  }
}

extension PostgresError {
  /// Whether no connection was available, or none in time.
  fileprivate var isUnavailability: Bool {
    switch code {
    case .connectionFailed, .connectionLost, .connectTimedOut, .acquireTimedOut, .tooManyWaiters, .statementTimedOut,
      .commitOutcomeUnknown:
      true
    // Insufficient resources, operator intervention (PostgreSQL, appendix A).
    default: sqlState.map { $0.hasPrefix("53") || $0.hasPrefix("57P") } ?? false
    }
  }
}
