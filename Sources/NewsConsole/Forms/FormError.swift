import HTTPEdge
package import HTTPTypes

/// The reason why a form is refused.
///
/// The raw value is the key of the sentence that explains it, in the catalogues of texts.
package enum FormError: String, Error, CaseIterable {
  /// The body is not of the media type that the form has, or has none.
  case unsupportedType = "form-unsupported-type"
  /// The body is compressed.
  case unsupportedCoding = "form-unsupported-coding"
  /// The body exceeds the limit of the request.
  case bodyTooLarge = "form-body-too-large"
  case tooManyFields = "form-too-many-fields"
  case tooManyParts = "form-too-many-parts"
  /// The name of a field exceeds the limit.
  case nameTooLong = "form-name-too-long"
  /// The value of a field that is not a file exceeds the limit.
  case valueTooLong = "form-value-too-long"
  /// The header of a part exceeds the limit.
  case partHeaderTooLong = "form-part-header-too-long"
  /// `Content-Type` is malformed, or its boundary is missing or malformed.
  case malformedType = "form-malformed-type"
  /// A `%` is not followed by two hexadecimal digits.
  case malformedEscape = "form-malformed-escape"
  /// The delimiters or the headers of the parts are malformed.
  case malformedParts = "form-malformed-parts"
  /// A name or a value is not valid UTF-8.
  case notUTF8 = "form-not-utf-8"
  /// A value has more than 30 combining marks in a row.
  case tooManyMarks = "form-too-many-marks"
  /// The body ended too early.
  case truncated = "form-truncated"
  /// The client took too long to send the body.
  case timeout = "form-timeout"

  /// Converts an error that has ended the reading of a body.
  init(bodyError error: any Error) {
    switch error {
    case let error as FormError: self = error
    case is ConnectionDeadline.Exceeded: self = .timeout
    // The framing is broken, or the client has disconnected.
    default: self = .truncated
    }
  }

  /// The key of the sentence that explains the error.
  package var textKey: String { rawValue }

  /// The status of a response: 400, 408, 413 or 415.
  package var status: HTTPResponse.Status {
    switch self {
    case .unsupportedType, .unsupportedCoding: .unsupportedMediaType
    case .bodyTooLarge, .tooManyFields, .tooManyParts, .nameTooLong, .valueTooLong, .partHeaderTooLong:
      .contentTooLarge
    case .malformedType, .malformedEscape, .malformedParts, .notUTF8, .tooManyMarks, .truncated:
      .badRequest
    case .timeout: .requestTimeout
    }
  }
}

extension FormError {
  /// Decodes a name or a value.
  ///
  /// - Throws: `notUTF8` or `tooManyMarks`.
  static func text(_ bytes: [UInt8]) throws(FormError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    guard text.isStreamSafe else { throw .tooManyMarks }
    return text
  }
}
