import NewsPages

/// The sentences about feeds that cannot be read. The exact reason is in English: it contains the words of other programs.
extension ConsolePages {
  /// Returns the sentence about a poll that has failed.
  ///
  /// - Parameter status: The status of the response; nil if there was none.
  func failureText(status: Int?) -> String {
    switch status {
    case nil: texts.text("poll-failed")
    case 410?: texts.text("poll-failed-gone")
    case (200..<300)?: texts.text("poll-failed-content")
    case let status?: texts.text("poll-failed-status", ["status": "\(status)"])
    }
  }

  /// Returns the sentence about an address without a preview.
  ///
  /// - Parameter status: The status of the response; nil if there was none.
  func previewFailureText(status: Int?) -> String {
    let sentence = texts.text("no-preview")
    return status == nil ? sentence : "\(sentence) \(failureText(status: status))"
  }

  /// Returns the exact reason of a failure; nil if the status says it all.
  func failureDetail(_ reason: String, status: Int?) -> String? {
    status.map { (200..<300).contains($0) } ?? true ? reason : nil
  }
}
