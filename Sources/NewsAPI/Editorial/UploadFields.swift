import HTTPEdge
import HTTPTypes
import News

/// The fields of a request about an upload that continues over several requests
/// (draft-ietf-httpbis-resumable-upload, interop version 6).
struct UploadFields: Sendable, Equatable {
  /// The supported version of the draft.
  static let version = "6"
  /// The media type of the body of PATCH.
  static let partType = "application/partial-upload"

  /// Whether the upload is complete with this request; nil if the request does not say so.
  private(set) var isComplete: Bool?
  /// The number of bytes before those of the request.
  private(set) var offset: Int?
  /// The number of bytes of the whole file.
  private(set) var length: Int?

  /// Reads the fields.
  ///
  /// - Returns: nil if the request has none of them.
  /// - Throws: `ProblemError`, 400, for malformed fields and for another version.
  init?(_ headers: HTTPFields) throws {
    let names: [HTTPField.Name] = [.uploadVersion, .uploadComplete, .uploadOffset, .uploadLength]
    guard names.contains(where: { headers[$0] != nil }) else { return nil }
    var errors: [FieldError] = []
    func read<Value>(_ name: HTTPField.Name, _ rule: String, _ parse: (String) -> Value?) -> Value? {
      guard let text = headers[name] else { return nil }
      let value = parse(text)
      if value == nil { errors.append(FieldError(field: name.rawName, rule: rule)) }
      return value
    }
    let number = "must be a number of bytes from 0 to 999999999999999"
    isComplete = read(.uploadComplete, "must be ?0 or ?1", Self.boolean)
    offset = read(.uploadOffset, number, Self.number)
    length = read(.uploadLength, number, Self.number)
    if headers[.uploadVersion] != Self.version {
      errors.append(FieldError(field: HTTPField.Name.uploadVersion.rawName, rule: "must be \(Self.version)"))
    }
    // A digest of the content of one message says nothing about the file.
    if headers[.contentDigest] != nil, isComplete == false || offset != nil {
      errors.append(
        FieldError(
          field: HTTPField.Name.contentDigest.rawName,
          rule: "must be omitted: Repr-Digest in the first request describes the whole file"))
    }
    guard errors.isEmpty else { throw ProblemError.invalidParameters(errors) }
  }

  /// Reads the fields of a request for an upload.
  ///
  /// - Throws: `ProblemError`, 400, also for a request without the fields.
  static func required(_ headers: HTTPFields) throws -> UploadFields {
    guard let fields = try UploadFields(headers) else {
      throw ProblemError.invalidParameters([
        FieldError(field: HTTPField.Name.uploadVersion.rawName, rule: "must be \(version)")
      ])
    }
    return fields
  }

  /// Returns the fields of a response about an upload.
  static func response(offset: Int, isComplete: Bool) -> HTTPFields {
    [
      .uploadVersion: version, .uploadComplete: isComplete ? "?1" : "?0", .uploadOffset: "\(offset)",
    ]
  }

  /// Parses a Boolean (RFC 9651 section 3.3.6).
  private static func boolean(_ text: String) -> Bool? {
    switch text {
    case "?0": false
    case "?1": true
    default: nil
    }
  }

  /// Parses an integer that is not negative (RFC 9651 section 3.3.1).
  private static func number(_ text: String) -> Int? {
    1...15 ~= text.utf8.count && text.utf8.allSatisfy(\.isASCIIDigit) ? Int(text) : nil
  }
}

extension ProblemError {
  /// The upload continues at another offset than that of the request.
  static func uploadOffset(_ offset: Int, isComplete: Bool) -> ProblemError {
    ProblemError(
      .conflict, "upload-offset", "The upload continues at another offset",
      detail: isComplete ? "The upload is complete with \(offset) bytes." : "It has \(offset) bytes.",
      headers: UploadFields.response(offset: offset, isComplete: isComplete))
  }

  /// A file has another length than the declared one.
  static func uploadLength(_ arrived: Int) -> ProblemError {
    invalidParameters([
      FieldError(field: "Upload-Length", rule: "must be the number of all bytes: \(arrived) have arrived")
    ])
  }

  static let uploadInProgress = ProblemError(
    .conflict, "upload-in-progress", "Another request is sending the file",
    detail: "Repeat the request later. HEAD returns the offset.",
    headers: [.uploadVersion: UploadFields.version, .retryAfter: "1"])

  static let uploadLimit = ProblemError(
    .conflict, "upload-limit", "The key has too many unfinished uploads",
    detail: "Complete some of them, or cancel them with DELETE. They expire a day after their last progress.")
}
