import Foundation
import NewsAPI
import NewsStore

/// The name of a form that all copies of it have, so that a form that is sent twice has its effect once.
///
///     let outcome = try await context.writeOnce(FormName(fields), at: path) {
///       try await services.editorial.testWebhook(id, context)
///     }
struct FormName: Sendable, Equatable {
  /// The name of the field.
  static let field = "once"

  private let id: UUID

  /// Creates the name of a new form.
  init() {
    id = UUID()
  }

  /// Reads the name of a form that was sent. A form without one has a new name.
  init(_ fields: FormFields) {
    id = fields.first(Self.field).flatMap { UUID(uuidString: $0) } ?? UUID()
  }

  /// The value of the field.
  var text: String { id.uuidString.lowercased() }

  fileprivate func apply(to context: APIContext, target: String) {
    context.setRepeatable(named: id, target: target)
  }
}

/// The outcome of the write of a form.
enum FormOutcome<Result: Sendable>: Sendable {
  case written(Result)
  /// An earlier copy of the form was written, with this answer.
  case repeated(StoredAnswer)
}

extension APIContext {
  /// The number of times that a copy of a form asks for the outcome of the first one.
  private static let maximumChecks = 100
  /// The interval between two of them.
  private static let checkInterval: Duration = .milliseconds(100)

  /// Runs the write of a form, unless an earlier copy of the form was written. A copy that is sent beside the first one
  /// waits for its outcome.
  ///
  /// - Parameters:
  ///   - target: The path to which the form is sent.
  ///   - write: A write of `EditorialAPI` that may be repeated.
  /// - Throws: The errors of the write; `StoreError.requestInProgress` if the first copy has no outcome for ten seconds.
  func writeOnce<Result: Sendable>(
    _ name: FormName, at target: String, _ write: () async throws -> Result
  ) async throws -> FormOutcome<Result> {
    name.apply(to: self, target: target)
    for check in 1... {
      do {
        return .written(try await write())
      } catch let answered as AnsweredBefore {
        return .repeated(answered.answer)
      } catch StoreError.requestInProgress where check < Self.maximumChecks {
        try await Task.sleep(for: Self.checkInterval)
      }
    }
    throw StoreError.requestInProgress
  }
}
