import Foundation
import HTTPTransfer
import News

/// The fields of a payload, of whichever push service.
struct PushPayload: Decodable {
  /// The maximum length of a code in bytes.
  private static let maximumCodeLength = 256

  let isContentAvailable: Bool
  /// The id of the content as text.
  let contentID: String?
  /// All fields, those of the app included.
  let userInfo: [String: JSONValue]
  let token: String?
  let push: String?
  let asksForReport: Bool
  let code: String?
  let alert: RemoteNotification.Alert?

  private enum Keys: String, CodingKey {
    case aps, alert, body, breaking, code, data, push, report, title, token, url
    case contentID = "content-id"
    case contentAvailable = "content-available"
    case interruptionLevel = "interruption-level"
  }

  private typealias Fields = KeyedDecodingContainer<Keys>

  /// The fields by which a payload without `aps` is one of this server.
  private static let ownFields: [Keys] = [.contentID, .push, .token, .code, .title, .body]

  init(from decoder: any Decoder) throws {
    var fields = try decoder.container(keyedBy: Keys.self)
    var userInfo = try decoder.singleValueContainer().decode([String: JSONValue].self)
    let isAPNs = fields.contains(.aps)
    // A complete message of FCM has the fields in its data.
    if !isAPNs, !Self.ownFields.contains(where: fields.contains),
      let data = try? fields.nestedContainer(keyedBy: Keys.self, forKey: .data)
    {
      fields = data
      if case .object(let members)? = userInfo["data"] { userInfo = members }
    }
    self.userInfo = userInfo
    let code = Self.text(.code, fields)
    self.code = code.flatMap { $0.utf8.count <= Self.maximumCodeLength ? $0 : nil }
    if isAPNs {
      let aps = try? fields.nestedContainer(keyedBy: Keys.self, forKey: .aps)
      alert = aps.flatMap { Self.alert(aps: $0, fields) }
      isContentAvailable = (try? aps?.decode(Int.self, forKey: .contentAvailable)) == 1
    } else {
      alert = Self.alert(fields, fields, isBreaking: Self.flag(.breaking, fields))
      isContentAvailable =
        alert == nil && code == nil && [.contentID, .push, .token].contains { fields.contains($0) }
    }
    contentID = userInfo[Keys.contentID.rawValue]?.text
    token = Self.text(.token, fields)
    push = Self.text(.push, fields)
    asksForReport = Self.flag(.report, fields)
  }

  private static func text(_ key: Keys, _ fields: Fields) -> String? { try? fields.decode(String.self, forKey: key) }

  /// Reads a flag, which FCM sends as the string `1`.
  private static func flag(_ key: Keys, _ fields: Fields) -> Bool {
    if let number = try? fields.decode(Int.self, forKey: key) { return number == 1 }
    if let flag = try? fields.decode(Bool.self, forKey: key) { return flag }
    return text(key, fields) == "1"
  }

  /// Reads `alert` of APNs, which is a text or an object.
  private static func alert(aps: Fields, _ fields: Fields) -> RemoteNotification.Alert? {
    let level = text(.interruptionLevel, aps)
    let isBreaking = level == "time-sensitive" || level == "critical"
    if let body = text(.alert, aps) {
      return .init(title: "", body: body, url: link(fields), isBreaking: isBreaking)
    }
    guard let texts = try? aps.nestedContainer(keyedBy: Keys.self, forKey: .alert) else { return nil }
    return alert(texts, fields, isBreaking: isBreaking)
  }

  private static func alert(_ texts: Fields, _ fields: Fields, isBreaking: Bool) -> RemoteNotification.Alert? {
    let (title, body) = (text(.title, texts), text(.body, texts))
    guard title != nil || body != nil else { return nil }
    return .init(title: title ?? "", body: body ?? "", url: link(fields), isBreaking: isBreaking)
  }

  /// Reads the page of an item. Other schemes could run programs.
  private static func link(_ fields: Fields) -> URL? {
    text(.url, fields).flatMap { URL(string: $0) }.flatMap { $0.requestObstacle == nil ? $0 : nil }
  }
}
