public import Foundation

/// Sends requests for the client: one exchange at a time, without redirects, retries, cache or cookies, which are
/// decided above.
public protocol HTTPTransport: Sendable {
  /// Sends a GET request and returns when the head of the answer is there.
  ///
  /// There is no deadline but the caller's: once its task is cancelled, connecting, waiting and reading throw.
  ///
  /// - Parameters:
  ///   - url: http or https.
  ///   - headers: All that are sent, `Host` excepted.
  /// - Throws: ``HTTPTransportError``, or any other error, where there is no whole head of an answer.
  func get(_ url: URL, headers: [HTTPHeader]) async throws -> HTTPAnswer

  /// Sends a file as the content of a request, and returns when the head of the answer is there.
  ///
  /// - Parameters:
  ///   - file: All of it is sent, with its length.
  ///   - url: http or https.
  ///   - method: `POST` or `PUT`.
  ///   - headers: All that are sent, `Host` and `Content-Length` excepted.
  /// - Throws: Any error, where there is no whole head of an answer.
  func upload(_ file: HTTPFile, to url: URL, method: String, headers: [HTTPHeader]) async throws -> HTTPAnswer
}

/// A file that is the content of a request.
public struct HTTPFile: Sendable {
  /// Where it is.
  public var url: URL
  /// How many bytes it has; should it have others when it is read, the request fails.
  public var length: Int64
  /// Is told how many bytes have been handed over so far.
  public var progress: @Sendable (Int64) -> Void

  /// A file; nothing is checked.
  public init(url: URL, length: Int64, progress: @escaping @Sendable (Int64) -> Void) {
    self.url = url
    self.length = length
    self.progress = progress
  }
}

/// A field of a head.
public struct HTTPHeader: Sendable, Hashable {
  /// Not sensitive to case.
  public var name: String
  /// Without white space around it.
  public var value: String

  /// A field; nothing is checked.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// The head of an answer, and its content as it comes.
public struct HTTPAnswer: Sendable {
  /// 200...599.
  public var status: Int
  /// In the order in which they came.
  public var headers: [HTTPHeader]
  /// The content without its coding; ends with an error where it is cut off or is too large.
  public var body: any AsyncSequence<Data, any Error> & Sendable

  /// An answer whose body is still to be read.
  public init(status: Int, headers: [HTTPHeader], body: any AsyncSequence<Data, any Error> & Sendable) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The value of the first field of a name, whatever its case.
  public subscript(name: String) -> String? { self[all: name].first }

  /// The values of all fields of a name, whatever its case.
  subscript(all name: String) -> [String] {
    headers.filter { $0.name.caseInsensitiveCompare(name) == .orderedSame }.map(\.value)
  }

  /// The media type, in lower case and without parameters; empty where there is none.
  var mediaType: String {
    let value = self["Content-Type"] ?? ""
    return value.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
  }
}
