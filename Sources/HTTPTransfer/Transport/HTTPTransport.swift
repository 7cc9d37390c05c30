public import Foundation
import HTTPConditions

/// Sends HTTP requests for the client. A call is one requester, without redirects, retries, cache or cookies. The layers
/// above handle those.
///
///     struct OfflineTransport: HTTPTransport {
///       func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse {
///         throw HTTPTransportError(.offline, "there is no network")
///       }
///       func upload(
///         _ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]
///       ) async throws -> HTTPTransportResponse { try await get(url, headers: headers) }
///     }
public protocol HTTPTransport: Sendable {
  /// Sends a GET request, and returns when the head of the response has arrived.
  ///
  /// The caller enforces the deadline. Once its task is cancelled, connecting, waiting and reading throw.
  ///
  /// - Parameters:
  ///   - url: An http or https URL.
  ///   - headers: All fields to send, except `Host`.
  /// - Throws: ``HTTPTransportError``, or any other error, if no complete head arrives.
  func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse

  /// Sends a file as the content of a request, and returns when the head of the response has arrived.
  ///
  /// - Parameters:
  ///   - file: The content, which is sent with its length.
  ///   - url: An http or https URL.
  ///   - method: `POST`, `PUT` or `PATCH`.
  ///   - headers: All fields to send, except `Host` and `Content-Length`.
  /// - Throws: Any error, if no complete head arrives.
  func upload(_ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]) async throws
    -> HTTPTransportResponse

  /// Sends a short content such as JSON, and returns when the head of the response has arrived. A transport without this
  /// method cannot register for pushes, and begins interrupted uploads again.
  ///
  /// - Parameters:
  ///   - content: The content, which is sent with its length; empty for none.
  ///   - url: An http or https URL.
  ///   - method: `POST`, `PUT`, `DELETE`, `HEAD` or `OPTIONS`.
  ///   - headers: All fields to send, except `Host` and `Content-Length`.
  /// - Throws: Any error, if no complete head arrives.
  func send(_ content: Data, to url: URL, method: String, headers: [HTTPHeader]) async throws
    -> HTTPTransportResponse
}

/// A transport that can leave the content coding of a response to its caller, who stores the bytes as they arrive.
package protocol CodedTransport: HTTPTransport {
  /// Sends a GET request as ``HTTPTransport/get(_:headers:)`` does, and decodes nothing.
  func getCoded(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPTransportResponse
}

extension HTTPTransport {
  /// Throws ``HTTPTransportError``.
  public func send(
    _ content: Data, to url: URL, method: String, headers: [HTTPHeader]
  ) async throws -> HTTPTransportResponse {
    throw HTTPTransportError.noContent
  }
}

/// A file, or the end of one, that is the content of a request.
///
///     let file = HTTPFile(url: URL(filePath: "/tmp/photo.jpg"), length: 48_213) { print("\($0) bytes sent") }
///     let transport = AsyncHTTPTransport()
///     let response = try await transport.upload(
///       file, to: URL(string: "https://news.example/photos")!, method: "PUT", headers: [])
///     print(response.status)
public struct HTTPFile: Sendable {
  /// The location of the file.
  public var url: URL
  /// The number of bytes to send. If the file is shorter when it is read, the request fails.
  public var length: Int64
  /// The number of bytes of the file before those that are sent.
  public var offset: Int64 = 0
  /// Receives the number of bytes handed over so far.
  public var progress: @Sendable (Int64) -> Void

  /// Creates a file; nothing is checked.
  public init(url: URL, length: Int64, progress: @escaping @Sendable (Int64) -> Void) {
    self.url = url
    self.length = length
    self.progress = progress
  }
}

/// A field of a head.
///
///     let header = HTTPHeader("Accept", "application/json")
///     print("\(header.name): \(header.value)")
public struct HTTPHeader: Sendable, Hashable {
  /// The name, whose case does not matter.
  public var name: String
  /// The value, without surrounding white space.
  public var value: String

  /// Creates a field; nothing is checked.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// The head of a response, and its content as it arrives. The counterpart of `HTTPURLResponse`.
///
///     let body = AsyncThrowingStream<Data, any Error> { continuation in
///       continuation.yield(Data("{}".utf8))
///       continuation.finish()
///     }
///     let response = HTTPTransportResponse(status: 200, headers: [HTTPHeader("Content-Type", "application/json")], body: body)
///     print(response.status, response["content-type"] ?? "no type")
public struct HTTPTransportResponse: Sendable {
  /// The status, 200...599.
  public var status: Int
  /// The fields, in the order of arrival.
  public var headers: [HTTPHeader]
  /// The decoded content. Reading throws if it is incomplete or too large.
  public var body: any AsyncSequence<Data, any Error> & Sendable
  /// Whether the content still has the coding that `Content-Encoding` names.
  package var hasCoding = false

  /// Creates a response whose body has not been read.
  public init(status: Int, headers: [HTTPHeader], body: any AsyncSequence<Data, any Error> & Sendable) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The value of the first field with a name, in any case.
  public subscript(name: String) -> String? { self[all: name].first }

  /// The values of all fields with a name, in any case.
  package subscript(all name: String) -> [String] {
    // Most names differ in length already.
    headers.filter { $0.name.utf8.count == name.utf8.count && $0.name.caseInsensitiveCompare(name) == .orderedSame }
      .map(\.value)
  }

  /// The media type, in lower case and without parameters; empty if there is none.
  package var mediaType: String {
    let value = self["Content-Type"] ?? ""
    return value.prefix { $0 != ";" }.fieldContent.lowercased()
  }
}
