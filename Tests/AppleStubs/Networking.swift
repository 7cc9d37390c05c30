// The part of Foundation on Apple platforms that Foundation on Linux lacks, with the same signatures. It is only compiled to
// check the examples of docs/apps.md, and belongs to the module UIKit there.
@_exported import Foundation

extension URL {
  package static var applicationSupportDirectory: URL { fatalError() }
}

package struct URLRequest: Sendable {
  package enum CachePolicy: Sendable {
    case reloadIgnoringLocalCacheData
  }

  package var httpMethod: String?
  package var httpBody: Data?

  package init(url: URL, cachePolicy: CachePolicy, timeoutInterval: TimeInterval) { fatalError() }

  package mutating func setValue(_ value: String?, forHTTPHeaderField field: String) { fatalError() }
}

package class URLResponse: @unchecked Sendable {}

package class HTTPURLResponse: URLResponse, @unchecked Sendable {
  package var statusCode: Int { fatalError() }

  package func value(forHTTPHeaderField field: String) -> String? { fatalError() }
}

package final class URLSessionConfiguration: @unchecked Sendable {
  package var sessionSendsLaunchEvents = false
  package var isDiscretionary = false

  package static func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
}

package protocol URLSessionDelegate: NSObjectProtocol, Sendable {
  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

package protocol URLSessionDownloadDelegate: URLSessionDelegate {
  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
}

package final class URLSession: @unchecked Sendable {
  package static let shared = URLSession(
    configuration: .background(withIdentifier: ""), delegate: nil, delegateQueue: nil)

  package init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?
  ) {
    fatalError()
  }

  package func data(for request: URLRequest) async throws -> (Data, URLResponse) { fatalError() }

  package func downloadTask(with url: URL) -> URLSessionDownloadTask { fatalError() }
}

package final class URLSessionDownloadTask: @unchecked Sendable {
  package var taskDescription: String?
  package var response: URLResponse? { fatalError() }

  package func resume() { fatalError() }
}
