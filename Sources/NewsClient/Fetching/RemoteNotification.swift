public import Foundation
public import News

/// A background push: the server has at least the version of the token.
///
/// The counterpart of the `userInfo` of `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
///
///     let payload = Data(#"{"aps":{"content-available":1}}"#.utf8)
///     let report = await news.receive(RemoteNotification(payload: payload))
///     print(report.result)
public struct RemoteNotification: Sendable, Equatable {
  /// Whether the push asks for a fetch. Other pushes are for display only.
  public var isContentAvailable: Bool
  /// The id of the item that the push is about.
  public var contentID: UUID?
  /// A token that the server has reached.
  public var token: SyncToken?

  /// Creates a notification.
  public init(isContentAvailable: Bool = true, contentID: UUID? = nil, token: SyncToken? = nil) {
    self.isContentAvailable = isContentAvailable
    self.contentID = contentID
    self.token = token
  }

  /// Reads a payload: `{"aps":{"content-available":1},"content-id":"…","token":"…"}`.
  ///
  /// Fields that are missing or of another type are ignored, because a push is a hint and never a reason to fail.
  public init(payload: Data) {
    let fields = try? JSONDecoder().decode(Payload.self, from: payload)
    isContentAvailable = fields?.isContentAvailable ?? false
    contentID = fields?.contentID.flatMap(UUID.init(uuidString:))
    token = fields?.token.flatMap { SyncToken($0) }
  }
}

private struct Payload: Decodable {
  var isContentAvailable: Bool
  var contentID: String?
  var token: String?

  private enum Keys: String, CodingKey {
    case aps, token
    case contentID = "content-id"
    case contentAvailable = "content-available"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Keys.self)
    let aps = try? fields.nestedContainer(keyedBy: Keys.self, forKey: .aps)
    isContentAvailable = (try? aps?.decode(Int.self, forKey: .contentAvailable)) == 1
    contentID = try? fields.decode(String.self, forKey: .contentID)
    token = try? fields.decode(String.self, forKey: .token)
  }
}
