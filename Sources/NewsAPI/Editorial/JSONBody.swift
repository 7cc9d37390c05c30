import Crypto
import Foundation
import HTTPEdge
import HTTPTypes
import Hummingbird
import NewsStore

/// The JSON body of an editor's request.
enum JSONBody {
  /// The maximum size of a body, in bytes.
  static let largest = 1 << 20

  /// Reads a JSON object.
  ///
  /// - Parameters:
  ///   - types: The accepted media types, the recommended one first.
  ///   - largest: The maximum size of the body, in bytes.
  ///   - kind: The queue for a large body.
  /// - Throws: `ProblemError`: 415, 413, 408, or 400 `malformed-body`.
  static func object(
    of request: Request, context: APIContext, types: [String] = ["application/json"], largest: Int = largest,
    kind: ComputeKind = .editing
  ) async throws -> [String: JSONValue] {
    guard let type = request.headers[.contentType].map(mediaType), types.contains(type) else {
      throw ProblemError.unsupportedMediaType(types)
    }
    let codings = request.headers[values: .contentEncoding]
    guard codings.allSatisfy({ $0.lowercased() == "identity" }) else { throw ProblemError.unsupportedContentCoding }
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > largest {
      throw ProblemError.bodyTooLarge(largest)
    }
    context.awaitBody()
    let bytes = try await bytes(of: request, largest)
    context.record.setBodyBytes(bytes.count)
    return try await context.compute(kind) {
      if context.record.idempotencyKey != nil { context.record.setBodyDigest(Data(SHA256.hash(data: bytes))) }
      return try object(bytes)
    }
  }

  private static func object(_ bytes: [UInt8]) throws -> [String: JSONValue] {
    let value: JSONValue
    do {
      value = try JSONValue.parse(bytes, limitsMarks: true)
    } catch {
      throw ProblemError.malformedBody(error.message)
    }
    guard case .object(let fields) = value else { throw ProblemError.malformedBody("The body must be a JSON object.") }
    return fields
  }

  private static func bytes(of request: Request, _ largest: Int) async throws(ProblemError) -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      for try await part in request.body {
        guard bytes.count + part.readableBytes <= largest else { throw ProblemError.bodyTooLarge(largest) }
        bytes.append(contentsOf: part.readableBytesView)
      }
      return bytes
    } catch {
      throw ProblemError(bodyError: error)
    }
  }

  /// Returns the media type of a `Content-Type` value, without parameters and in lower case (RFC 9110 section 8.3.1).
  static func mediaType(_ field: String) -> String {
    field.prefix { $0 != ";" }.trimmed.lowercased()
  }
}

extension ProblemError {
  /// Converts an error that has ended the reading of a body.
  ///
  /// - Parameter bodyError: The reason why the rest of the body did not arrive, or was refused.
  init(bodyError error: any Error) {
    switch error {
    case let error as ProblemError: self = error
    case is ConnectionDeadline.Exceeded: self = .requestTimeout
    // The framing is broken, or the client has disconnected. Neither is an error of the server.
    default: self = .malformedBody("The body is truncated or wrongly framed.")
    }
  }
}
