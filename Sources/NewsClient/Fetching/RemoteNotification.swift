public import Foundation
public import News

/// What a background push says: that the server has at least what a token names.
public struct RemoteNotification: Sendable, Equatable {
  /// Whether it asks for a fetch; others are for the eyes of the user.
  public var isContentAvailable: Bool
  /// The item it is about.
  public var contentID: UUID?
  /// What the server has reached.
  public var token: SyncToken?

  /// A notification of one's own.
  public init(isContentAvailable: Bool = true, contentID: UUID? = nil, token: SyncToken? = nil) {
    self.isContentAvailable = isContentAvailable
    self.contentID = contentID
    self.token = token
  }

  /// Reads a payload: `{"aps":{"content-available":1},"content-id":"…","token":"…"}`. What is missing, or of another
  /// type, is as if it were not there: a push is a hint, never a reason to fail.
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
