/// Checks the keys of JSON before Foundation decodes it.
enum JSONKeys {
  /// The maximum length of a key. Foundation hashes the keys of an object, which takes time quadratic in their
  /// combining marks: a key of one megabyte would take minutes.
  static let maximumBytes = 1024

  /// Whether a key is longer than `maximumBytes`. For malformed JSON the result may be either.
  static func areTooLong(in json: [UInt8]) -> Bool {
    json.withUnsafeBufferPointer { json in
      var index = 0
      while index < json.count {
        guard json[index] == UInt8(ascii: "\"") else {
          index += 1
          continue
        }
        let start = index + 1
        index = start
        while index < json.count, json[index] != UInt8(ascii: "\"") {
          index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        let length = index - start
        index += 1
        guard length > maximumBytes else { continue }
        var next = index
        while next < json.count, json[next] <= 0x20 { next += 1 }
        if next < json.count, json[next] == UInt8(ascii: ":") { return true }
      }
      return false
    }
  }

  /// Returns the first object of a text that may go on after it, such as with a comment of a web server.
  static func firstObject(of json: [UInt8]) -> ArraySlice<UInt8> {
    var depth = 0
    var isText = false
    var index = 0
    while index < json.count {
      switch json[index] {
      case UInt8(ascii: "\\") where isText: index += 1
      case UInt8(ascii: "\""): isText.toggle()
      case UInt8(ascii: "{") where !isText: depth += 1
      case UInt8(ascii: "}") where !isText:
        depth -= 1
        if depth == 0 { return json[...index] }
      default: break
      }
      index += 1
    }
    return json[...]
  }
}
