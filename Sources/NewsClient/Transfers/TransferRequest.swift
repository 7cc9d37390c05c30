public import Foundation

/// What is to be transferred, and under which conditions.
public struct TransferRequest: Sendable, Hashable, Codable {
  /// Which way.
  public enum Direction: String, Sendable, Hashable, Codable {
    case download, upload
  }

  /// Which way.
  public var direction: Direction
  /// http or https.
  public var url: URL
  /// `GET` for downloads; `POST` or `PUT` for uploads.
  public var method: String
  /// Fields of the request beside those that the transfer needs, such as `Authorization`. They are sent to the origin of
  /// the URL only. The journal, which only the user can read, has them until the transfer is over.
  public var headers: [String: String] = [:]
  /// The file to upload; of a download the place it is moved to when it is whole. Without one it is kept for the
  /// delegate of its session.
  public var file: URL?
  /// What the content must be, in hexadecimal digits of lower case; nil for whatever the server says.
  public var sha256: String?
  /// What the content must be, such as `image/jpeg`; nil for anything but HTML, which is mostly somebody else's page.
  public var mediaType: String?
  /// How many bytes a download may have; nil for any number.
  public var mostBytes: Int64?
  /// Whether it waits for a network that is not paid by volume, and for external power. One that is begun in the
  /// background always does.
  public var isDiscretionary = false
  /// For how many seconds from its beginning it is tried, whatever happens; a week.
  public var patience = 604_800.0
  /// For how many seconds attempts may fail without any answer, such as where there is no such host; nil for a day.
  public var silencePatience: Double?

  /// A download.
  ///
  /// - Parameters:
  ///   - url: http or https.
  ///   - file: Where it is moved to when it is whole.
  public init(download url: URL, to file: URL? = nil) {
    (direction, method) = (.download, "GET")
    self.url = url
    self.file = file
  }

  /// An upload.
  ///
  /// - Parameters:
  ///   - file: What is sent. It must stay as it is until the transfer is over.
  ///   - url: http or https.
  ///   - method: `POST` or `PUT`.
  public init(upload file: URL, to url: URL, method: String = "POST") {
    direction = .upload
    self.file = file
    self.url = url
    self.method = method
  }
}
