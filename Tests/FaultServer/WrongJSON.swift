public import Foundation

/// An anomaly in the JSON of a list of items or changes.
public enum WrongJSON: Sendable, CaseIterable {
  /// Not JSON.
  case empty, cut, html, trailingGarbage, rawNUL, invalidUTF8, notANumber, infinity, loneSurrogate, topLevelCut
  /// JSON, but not of the requested type.
  case null, array, noList, listIsObject, textIsNumber, versionIsText, versionIsFraction, versionIsHuge, dateIsGarbage
  case idIsGarbage, textIsMissing, tokenIsGarbage
  /// Unusual: a client may refuse it, but must survive without harm.
  case duplicateKey, deepNesting, byteOrderMark, escapedNUL, titleIsNull
  /// Unusual but valid.
  case unknownField, unknownOp, date1970, date2106, leapSecond, offsetDate

  /// Whether a client must be able to read the list.
  public var isGood: Bool {
    switch self {
    case .unknownField, .unknownOp, .date1970, .date2106, .leapSecond, .offsetDate: true
    default: false
    }
  }

  /// Whether a client may accept or refuse the list, as long as it survives.
  public var isOpen: Bool {
    switch self {
    case .duplicateKey, .deepNesting, .byteOrderMark, .escapedNUL, .titleIsNull, .trailingGarbage, .loneSurrogate: true
    default: false
    }
  }

  /// Returns the body of a correct list with the anomaly. A list without items stays unchanged if the anomaly concerns
  /// an item.
  public func modify(_ json: Data) -> Data {
    switch self {
    case .empty: Data()
    case .cut: json.prefix(json.count / 2)
    case .topLevelCut: json.dropLast()
    case .html: Data("<!doctype html><title>502</title><h1>Bad Gateway</h1>".utf8)
    case .trailingGarbage: json + Data("}]garbage".utf8)
    case .null: Data("null".utf8)
    case .array: Data("[1,2,3]".utf8)
    case .noList: Data("{}".utf8)
    case .listIsObject: Data(#"{"changes":{},"items":{},"more":false,"token":"x"}"#.utf8)
    case .byteOrderMark: Data([0xef, 0xbb, 0xbf]) + json
    case .tokenIsGarbage: Self.top(json, replacing: "token", with: Data(#""token":"../../etc/passwd""#.utf8))
    case .unknownOp:
      json.replacingFirst(#""changes":["#, with: #""changes":[{"op":"transmogrify","into":{"a":[1]}},"#)
    default: member.map { Self.item(json, replacing: $0.key, with: $0.bytes) } ?? json
    }
  }

  /// The member of the first item to replace, and its replacement.
  private var member: (key: String, bytes: Data)? {
    func text(_ key: String, _ value: String) -> (String, Data) { (key, Data("\"\(key)\":\(value)".utf8)) }
    switch self {
    case .rawNUL: return text("title", "\"a\0b\"")
    case .invalidUTF8: return ("title", Data(#""title":""#.utf8) + Data([0xc3, 0x28, 0xff]) + Data("\"".utf8))
    case .notANumber: return text("version", "NaN")
    case .infinity: return text("version", "-Infinity")
    case .loneSurrogate: return text("title", #""\ud800 alone""#)
    case .textIsNumber: return text("text", "7")
    case .versionIsText: return text("version", #""seven""#)
    case .versionIsFraction: return text("version", "1.5")
    case .versionIsHuge: return text("version", "1e400")
    case .dateIsGarbage: return text("date", #""yesterday""#)
    case .idIsGarbage: return text("id", #""../../item""#)
    case .textIsMissing: return ("text", Data(#""words":"none""#.utf8))
    case .duplicateKey: return ("title", Data(#""title":"first","title":"second""#.utf8))
    case .deepNesting:
      let depth = 100_000
      return text("deep", String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    case .escapedNUL: return text("title", #""a\u0000b""#)
    case .titleIsNull: return text("title", "null")
    case .unknownField: return text("flavour", #"{"notes":[null,true,1e3,{"deep":""}]}"#)
    case .date1970: return text("date", #""1970-01-01T00:00:00.000Z""#)
    // One second beyond the range of an unsigned 32-bit number.
    case .date2106: return text("date", #""2106-02-07T06:28:16.000Z""#)
    case .leapSecond: return text("date", #""2016-12-31T23:59:60Z""#)
    case .offsetDate: return text("date", #""2026-01-01T01:30:00.123456789+05:30""#)
    default: return nil
    }
  }

  private static let mark = "\u{1}mark"

  private static func item(_ json: Data, replacing key: String, with bytes: Data) -> Data {
    edited(json, bytes) { object in
      func modified(_ item: inout Any) {
        guard var members = item as? [String: Any] else { return }
        members[key] = nil
        members[mark] = 0
        item = members
      }
      if var items = object["items"] as? [Any], !items.isEmpty {
        modified(&items[0])
        object["items"] = items
      } else if var changes = object["changes"] as? [[String: Any]],
        let index = changes.firstIndex(where: { $0["item"] != nil }), var item = changes[index]["item"]
      {
        modified(&item)
        changes[index]["item"] = item
        object["changes"] = changes
      }
    }
  }

  private static func top(_ json: Data, replacing key: String, with bytes: Data) -> Data {
    edited(json, bytes) { object in
      guard object.removeValue(forKey: key) != nil else { return }
      object[mark] = 0
    }
  }

  /// Replaces a mark with bytes that no encoder writes.
  private static func edited(_ json: Data, _ bytes: Data, _ edit: (inout [String: Any]) -> Void) -> Data {
    guard var object = (try? JSONSerialization.jsonObject(with: json)) as? [String: Any] else { return json }
    edit(&object)
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    guard var result = try? JSONSerialization.data(withJSONObject: object, options: options) else { return json }
    guard let range = result.firstRange(of: Data(#""\u0001mark":0"#.utf8)) else { return json }
    result.replaceSubrange(range, with: bytes)
    return result
  }
}

extension Data {
  fileprivate func replacingFirst(_ text: String, with other: String) -> Data {
    guard let range = firstRange(of: Data(text.utf8)) else { return self }
    var data = self
    data.replaceSubrange(range, with: Data(other.utf8))
    return data
  }
}

extension FaultResponse {
  /// Returns the response with the anomaly in the JSON of its body, and the matching length.
  public func json(_ wrong: WrongJSON) -> FaultResponse { body(wrong.modify) }
}
