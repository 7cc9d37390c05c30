import HTTPEdge
import News

/// The boundary of the parts of a body of type `multipart/form-data`.
///
///     let boundary = try MultipartBoundary(contentType: "multipart/form-data; boundary=----WebKitFormBoundaryAbc")
package struct MultipartBoundary: Sendable, Hashable {
  /// The media type of a form with files.
  static let mediaType = "multipart/form-data"

  /// The characters of the boundary, 1...70.
  let bytes: [UInt8]

  /// Reads the boundary from the value of `Content-Type`.
  ///
  /// - Throws: `FormError`: `unsupportedType` for another media type, `malformedType` if the syntax is wrong, or if the
  ///   boundary is missing, repeated or malformed (RFC 2046 section 5.1.1).
  package init(contentType: String) throws(FormError) {
    let field: ParameterisedField
    do { field = try ParameterisedField(contentType.utf8, backslash: .escapes) } catch { throw .malformedType }
    guard field.value == Self.mediaType else { throw .unsupportedType }
    guard let bytes = field.parameters["boundary"], 1...70 ~= bytes.count, bytes.last != UInt8(ascii: " "),
      bytes.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "'()+_,-./:=? ".utf8.contains($0) })
    else { throw .malformedType }
    self.bytes = bytes
  }
}
