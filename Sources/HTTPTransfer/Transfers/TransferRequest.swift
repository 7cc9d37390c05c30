public import Foundation

/// The content of a transfer, and the conditions for it.
///
///     var request = TransferRequest(download: URL(string: "https://news.example/video.mp4")!)
///     request.mediaType = "video/mp4"
///     request.maximumBytes = 500_000_000
///     request.isDiscretionary = true
///     try session.transfer(request, description: "video").resume()
public struct TransferRequest: Sendable, Hashable, Codable {
  /// The direction of a transfer.
  ///
  ///     let uploads = try journal.transfers().filter { $0.request.direction == .upload }
  ///     print(uploads.reduce(0) { $0 + $1.completed }, "bytes sent")
  public enum Direction: String, Sendable, Hashable, Codable {
    case download, upload
  }

  /// The direction.
  public var direction: Direction
  /// The http or https URL.
  public var url: URL
  /// The method: `GET` for downloads; `POST` or `PUT` for uploads.
  public var method: String
  /// Additional fields of the request, such as `Authorization`. They are sent only to the origin of the URL. The
  /// journal, which only the user can read, keeps them until the transfer has ended.
  public var headers: [String: String] = [:]
  /// The file to upload, or the destination of a download. A download without one is kept for the delegate of its
  /// session.
  public var file: URL?
  /// The required SHA-256 of the file of a download, in lower-case hexadecimal digits. If it is nil, only a digest that the
  /// server announces is checked. It decides whether a content coding such as gzip is a part of the file.
  public var sha256: String?
  /// The required media type of a download, such as `image/jpeg`; nil for all types except HTML, which is mostly the
  /// page of a captive portal. An upload sends it as `Content-Type`.
  public var mediaType: String?
  /// The maximum number of bytes in a download; nil for no limit.
  public var maximumBytes: Int64?
  /// The number of bytes that the download shares with others; nil for none. It is given up when they are used up.
  package var budget: TransferBudget?
  /// Whether the transfer waits for an unmetered network and external power. A session sets it for transfers that are
  /// added in the background. The counterpart of `URLSessionConfiguration.isDiscretionary`.
  public var isDiscretionary = false
  /// Whether the transfer may use a metered network. If it is false, the transfer waits for another one. The counterpart of
  /// `URLRequest.allowsExpensiveNetworkAccess`.
  public var allowsMeteredNetwork: Bool {
    get { requiresUnmeteredNetwork != true }
    set { requiresUnmeteredNetwork = newValue ? nil : true }
  }
  /// nil in requests of earlier builds.
  private var requiresUnmeteredNetwork: Bool?
  /// The time after the first resume at which the transfer is given up; by default a week. The counterpart of
  /// `URLSessionConfiguration.timeoutIntervalForResource`.
  public var timeout: Duration {
    get { Self.duration(timeoutSeconds) }
    set { timeoutSeconds = newValue / .seconds(1) }
  }
  /// The time for which attempts may fail without any response, such as for an unknown host; nil for a day.
  public var noResponseTimeout: Duration? {
    get { noResponseSeconds.map(Self.duration) }
    set { noResponseSeconds = newValue.map { $0 / .seconds(1) } }
  }
  /// The stored form of ``timeout``.
  private(set) var timeoutSeconds = 604_800.0
  /// The stored form of ``noResponseTimeout``.
  private(set) var noResponseSeconds: Double?

  /// Returns a duration. A damaged file may contain any number.
  private static func duration(_ seconds: Double) -> Duration { .seconds(min(max(seconds, 0), 1e9)) }

  /// The stored names of the properties.
  private enum CodingKeys: String, CodingKey {
    case maximumBytes = "mostBytes"
    case timeoutSeconds = "patience"
    case noResponseSeconds = "silencePatience"
    case direction, url, method, headers, file, sha256, mediaType, budget, isDiscretionary, requiresUnmeteredNetwork
  }

  /// Creates a download.
  ///
  /// - Parameters:
  ///   - url: The http or https URL.
  ///   - file: The destination; nil to keep the file for the delegate of the session.
  public init(download url: URL, to file: URL? = nil) {
    (direction, method) = (.download, "GET")
    self.url = url
    self.file = file
  }

  /// Creates an upload.
  ///
  /// - Parameters:
  ///   - file: The file to send. It must not change until the transfer has ended.
  ///   - url: The http or https URL.
  ///   - method: `POST` or `PUT`.
  public init(upload file: URL, to url: URL, method: String = "POST") {
    direction = .upload
    self.file = file
    self.url = url
    self.method = method
  }
}

/// A number of bytes that several downloads of unknown length share.
package struct TransferBudget: Sendable, Hashable, Codable {
  /// The name that the downloads have in common.
  package var name: String
  package var maximumBytes: Int64

  package init(name: String, maximumBytes: Int64) {
    self.name = name
    self.maximumBytes = maximumBytes
  }
}

extension TransferRequest {
  /// The header fields of the app.
  var fields: [HTTPHeader] { headers.map { HTTPHeader($0, $1) } }

  /// Whether the transfer may have to wait for a condition of the machine.
  var hasConditions: Bool { isDiscretionary || !allowsMeteredNetwork }

  /// Returns the condition that the transfer waits for, among the present ones; nil if there is none.
  func obstacle(among present: Set<Transfer.Obstacle>) -> Transfer.Obstacle? {
    if isDiscretionary, present.contains(.power) { return .power }
    return hasConditions && present.contains(.network) ? .network : nil
  }
}
