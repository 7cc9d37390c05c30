import HTTPTypes
import Hummingbird
import News
import NewsAPI
import NewsPages

extension Problem {
  /// Creates the problem of an error that a form explains.
  ///
  /// - Throws: Any other error.
  init(explaining error: any Error, _ statuses: Set<Int> = [409, 412, 422]) throws {
    guard let problem = ProblemError(expected: error)?.problem, statuses.contains(problem.status) else { throw error }
    self = problem
  }
}

extension ConsolePages {
  /// Returns the header fields and the text of the page of an error.
  ///
  /// - Parameters:
  ///   - headers: The header fields that belong to the error.
  ///   - visit: The session; nil for a page without navigation.
  func errorPage(
    of problem: Problem, headers: HTTPFields, for visit: ConsoleVisit? = nil
  ) -> (fields: HTTPFields, text: String) {
    let (title, text) = words(for: problem)
    var values = PageValues()
    values.set("status", problem.status)
    values.set("explanation", text)
    // The words of an editor. Those of other problems are for programmers.
    values.set("detail", problem.type == "/problems/retracted" ? problem.detail : nil)
    values.set("fieldErrors", (problem.errors ?? []).map { problemField($0) })
    values.set("hasFieldErrors", problem.errors?.isEmpty == false)
    values.set("backLink", link(ConsolePath.root))
    var fields = ConsoleHeaders.page
    for field in kept(headers) { fields.append(field) }
    return (fields, document("error", title: title, for: visit, values))
  }

  /// Returns a sentence about an error that a form shows above its fields.
  func message(of problem: Problem) -> String { words(for: problem).text }

  /// Returns the title and the sentence about an error: those of its type, or else those of its status, or else those of
  /// a request that cannot be read.
  private func words(for problem: Problem) -> (title: String, text: String) {
    let name = problem.type.split(separator: "/").last.map(String.init) ?? ""
    if let text = texts.texts[name], name.hasPrefix("form-") { return (texts.text("error-form-title"), text) }
    for key in ["error-\(name)", "error-\(problem.status)"] {
      if let title = texts.texts["\(key)-title"] { return (title, texts.text("\(key)-text")) }
    }
    return (texts.text("error-400-title"), texts.text("error-400-text"))
  }

  /// Returns the values of an error in a list.
  ///
  /// - Parameter id: The id of the element that the error is about; nil for none.
  func problemField(_ error: FieldError, id: String? = nil) -> PageValues {
    var values = PageValues()
    values.set("problemField", fieldLabel(error.field))
    values.set("problemRule", text(RuleText(error)))
    values.set("problemLink", id)
    return values
  }

  /// Sets the list of the errors above a form.
  ///
  /// - Parameters:
  ///   - errors: The sentences by id of the field.
  ///   - fields: The ids and labels of the fields, in the order of the form.
  func setProblemFields(
    _ errors: [String: String], of fields: [(id: String, label: String)], in values: inout PageValues
  ) {
    let list = fields.compactMap { field in
      errors[field.id].map { error -> PageValues in
        var values = PageValues()
        values.set("problemField", field.label)
        values.set("problemRule", error)
        values.set("problemLink", field.id)
        return values
      }
    }
    values.set("problemFields", list)
    values.set("hasProblemFields", !list.isEmpty)
  }

  /// Returns the values of a file that was refused, in the list of errors.
  func problemField(_ refusal: FileRefusal) -> PageValues {
    var values = PageValues()
    let name = refusal.name.map { Excerpt.of($0, limit: Self.fileNameLength) }
    values.set("problemField", name ?? texts.text("field-upload"))
    values.set("problemRule", message(of: refusal.problem))
    return values
  }

  /// Returns the label of a field of an item, such as `attachments[0].alt`; the name itself for another field.
  func fieldLabel(_ field: String) -> String {
    let name = field.split(separator: ".").last.map(String.init) ?? field
    return texts.texts["field-\(name.prefix { $0 != "[" })"] ?? field
  }

  /// The fields of an error that a browser understands. Those for clients of the API would open a dialog.
  private func kept(_ headers: HTTPFields) -> HTTPFields {
    var kept = HTTPFields()
    for name in [HTTPField.Name.allow, .retryAfter] { kept[name] = headers[name] }
    return kept
  }
}
