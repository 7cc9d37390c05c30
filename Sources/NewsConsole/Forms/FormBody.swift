import HTTPEdge
import HTTPTypes
package import Hummingbird
import NIOCore

/// Reads forms from the bodies of requests.
///
///     let fields = try await FormBody.fields(of: request, context: context)
///     let title = fields.text("title")
package enum FormBody {
  /// The media type of a form without files.
  private static let urlEncoded = "application/x-www-form-urlencoded"

  /// Reads a form without files.
  ///
  /// - Parameters:
  ///   - maximumBytes: The maximum length of the body. Most characters outside ASCII take six bytes of it or more.
  ///   - limits: The limits of the fields.
  /// - Throws: `FormError`; without reading the body if its type, its coding or its declared length is not accepted.
  package static func fields(
    of request: Request, context: some FormBodyContext, maximumBytes: Int = 2 << 20, limits: FormLimits = FormLimits()
  ) async throws(FormError) -> FormFields {
    let type: ParameterisedField
    do {
      type = try ParameterisedField((request.headers[.contentType] ?? "").utf8, backslash: .escapes)
    } catch {
      throw request.headers[.contentType] == nil ? .unsupportedType : .malformedType
    }
    guard type.value == urlEncoded else { throw .unsupportedType }
    try check(request.headers, maximumBytes: maximumBytes)
    context.awaitBody()
    var bytes: [UInt8] = []
    do {
      for try await chunk in request.body {
        guard chunk.readableBytes <= maximumBytes - bytes.count else { throw FormError.bodyTooLarge }
        bytes += chunk.readableBytesView
      }
      try await context.requireWholeBody()
    } catch {
      throw FormError(bodyError: error)
    }
    return try FormFields(urlEncoded: bytes, limits: limits)
  }

  /// Begins to read a form with files. Use the result in one task.
  ///
  /// - Throws: `FormError`, without reading the body, if its type, its coding or its declared length is not accepted.
  package static func parts(
    of request: Request, context: some FormBodyContext, limits: MultipartLimits
  ) throws(FormError) -> MultipartReader {
    guard let type = request.headers[.contentType] else { throw .unsupportedType }
    let boundary = try MultipartBoundary(contentType: type)
    try check(request.headers, maximumBytes: limits.totalBytes)
    context.awaitBody()
    return MultipartReader(
      request.body, parser: MultipartParser(boundary: boundary, limits: limits), context: context)
  }

  private static func check(_ headers: HTTPFields, maximumBytes: Int) throws(FormError) {
    guard headers[values: .contentEncoding].allSatisfy({ $0.lowercased() == "identity" }) else {
      throw .unsupportedCoding
    }
    if let length = headers[.contentLength].flatMap({ Int($0) }), length > maximumBytes { throw .bodyTooLarge }
  }
}
