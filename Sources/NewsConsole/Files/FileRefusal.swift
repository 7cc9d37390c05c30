import News

/// A file of a form that was not stored.
struct FileRefusal: Error {
  /// The name of the file; nil if it has none.
  let name: String?
  let problem: Problem
}
